"""Contexts: blocks for a prompt about a query, a conversation or a subject, within a budget of tokens.

The functions are pure: one rule says which parts come first and how each is written.
"""

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import datetime
from typing import Literal

from pydantic import ConfigDict, Field

from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.knowledge.entries import Entry
from mnestic.memory.knowledge.facts import Fact
from mnestic.memory.knowledge.prompt_facts import quote_change, quote_fact, quote_memory
from mnestic.memory.knowledge.world.categories import CategoryOverview, latest_overviews
from mnestic.memory.knowledge.world.histories import FactHistory
from mnestic.memory.knowledge.world.period_summaries import (
    PeriodSummary,
    SummarySearch,
    chosen_summaries,
    level_for,
)
from mnestic.memory.knowledge.world.summaries import CategorySummary
from mnestic.memory.language.sentences import cut_around
from mnestic.memory.language.time_words import time_in_words
from mnestic.memory.packing import DroppedItem, PromptItem, Tier, pack
from mnestic.memory.quotations import BlockName, quoted, quoted_block
from mnestic.memory.retrieval.auto_retrieval import LONGEST_MEMORY, excerpt
from mnestic.memory.retrieval.queries import RetrievalQuery, RetrievedEntry

TierName = Literal["summaries", "facts", "search"]
TIERS: tuple[TierName, ...] = ("summaries", "facts", "search")
MOST_FACTS = 50
# With summaries a block is filled up to the first share of its budget, with facts up to the second.
_MOST_OVERVIEWS = 3
_SHARES = {"periods": 0.2, "summaries": 0.3, "facts": 0.6}
_MOST_NAMES = 100  # words of a question that may name a session
_NAME = re.compile(r"[^\s,;!?\"'()]+")


class ContextPart(DeferredModel):
    """A part that the context includes."""

    model_config = ConfigDict(frozen=True)

    kind: str
    name: str
    score: float | None = None


class Context(DeferredModel):
    """A block for a prompt, at most `max_tokens` by exact count, marks and opening with it.

    `dropped` is the ledger: what was found and is not told, and why. `skipped` names sources that did not
    answer.
    """

    model_config = ConfigDict(frozen=True)

    text: str
    tokens: int
    max_tokens: int
    kept: tuple[ContextPart, ...] = ()
    dropped: tuple[DroppedItem, ...] = ()
    skipped: dict[str, str] = Field(default_factory=dict)


class Frame(DeferredModel):
    """How the lines of a kind of context are told: in which block, and which comes first."""

    model_config = ConfigDict(frozen=True)

    name: BlockName
    latest_last: bool = False

    def render(self, lines: Sequence[str]) -> str:
        """The block."""
        ordered = reversed(lines) if self.latest_last else lines
        return quoted_block(self.name, ordered)


QUERY = Frame(name="context")
CONVERSATION = Frame(name="conversation", latest_last=True)
PATTERNS = Frame(name="learned")
HISTORY = Frame(name="history", latest_last=True)


def context_of(
    frame: Frame,
    tiers: Iterable[Tier],
    *,
    max_tokens: int,
    count_tokens: Callable[[str], int],
    skipped: dict[str, str] | None = None,
) -> Context:
    """Packs tiers into a block."""
    packed = pack(tiers, max_tokens=max_tokens, count_tokens=count_tokens, render=frame.render)
    kept = (ContextPart(kind=one.kind, name=one.name, score=one.score) for one in packed.included)
    return Context(
        text=packed.text,
        tokens=packed.tokens,
        max_tokens=max_tokens,
        kept=tuple(kept),
        dropped=packed.dropped,
        skipped=skipped or {},
    )


def summary_search(
    query: RetrievalQuery, period: tuple[datetime, datetime] | None
) -> SummarySearch | None:
    """Which summaries of a large memory belong into the context of a question; None if it asks for what they do not tell.

    Args:
        query: One with other filters than a session gets the summaries of that session, or none.
        period: The time that it speaks of.
    """
    if query.is_filtered:
        others = query.model_copy(update={"session_id": None})
        if query.session_id is None or others.is_filtered:
            return None
        return SummarySearch(sessions=(query.session_id,), alone=True)
    names = [name.rstrip(".:") for name in _NAME.findall(query.text)[:_MOST_NAMES]]
    if period is None:
        return SummarySearch(sessions=names)
    since, until = period
    return SummarySearch(sessions=names, level=level_for(since, until), since=since, until=until)


def period_tier(summaries: Iterable[PeriodSummary], search: SummarySearch) -> Tier:
    """Summaries of a large memory: of a session, and of a time, that the question names, and of the whole life.

    Until the life is summarised again, the latest months stand for it.
    """
    pieces = (
        PromptItem(
            kind="summary",
            name=one.name,
            line=quoted({"of": one.name, "summary": one.text}),
            words=one.text,
        )
        for one in chosen_summaries(summaries, search)
    )
    return Tier(name="summaries", pieces=tuple(pieces), share=_SHARES["periods"])


def summary_tier(summaries: Iterable[CategorySummary]) -> Tier:
    """Summaries of categories, which come first; a fact that one tells is not told once more."""
    pieces = (
        PromptItem(
            kind="summary",
            name=one.category,
            line=quoted({"category": one.category, "summary": one.text}),
            words=one.text,
            covers=tuple(map(_fact_words, one.facts)),
        )
        for one in summaries
    )
    return Tier(name="summaries", pieces=tuple(pieces), share=_SHARES["summaries"])


def overview_tier(categories: Iterable[CategoryOverview]) -> Tier:
    """Summaries of what changed last, for a question that names nobody."""
    pieces = (
        PromptItem(
            kind="summary",
            name=one.name,
            line=quoted({"category": one.name, "summary": one.summary}),
            words=one.summary,
        )
        for one in latest_overviews(categories, number=_MOST_OVERVIEWS)
    )
    return Tier(name="summaries", pieces=tuple(pieces), share=_SHARES["summaries"])


def fact_tier(facts: Iterable[Fact], *, topics: Collection[str] = ()) -> Tier:
    """What is so of whom the question names: first what it asks for, what there is one of before lists, then what began last."""
    newest = sorted(
        facts,
        key=lambda fact: (
            fact.predicate not in topics,
            fact.predicate in topics and fact.cardinality == "multi",
            -fact.valid_from.timestamp(),
            fact.id,
        ),
    )
    pieces = tuple(
        PromptItem(
            kind="fact",
            name=fact.id,
            line=quote_fact(fact),
            words=_fact_words(fact),
        )
        for fact in newest[:MOST_FACTS]
    )
    return Tier(name="facts", pieces=pieces, share=_SHARES["facts"])


def search_tier(
    found: Iterable[RetrievedEntry],
    *,
    min_score: float,
    now: datetime,
    facts: Iterable[Fact] = (),
) -> Tier:
    """What was found by search, the surest first; what scores less than it has to goes into the ledger.

    The entry of one of the `facts` is known again by what the fact says, so it is not told twice.
    """
    words = {fact.id: {"words": _fact_words(fact)} for fact in facts}
    pieces = (
        _piece(one.entry, now=now, content=excerpt(one), archived=one.archived).model_copy(
            update={"score": one.score, "min_score": min_score, **words.get(one.entry.id, {})}
        )
        for one in found
    )
    return Tier(name="search", pieces=tuple(pieces))


def message_tier(entries: Iterable[Entry], *, now: datetime) -> Tier:
    """Messages as they are listed; what is said twice is told twice."""
    pieces = (
        _piece(entry, now=now, content=cut_around(entry.content, "", LONGEST_MEMORY)).model_copy(
            update={"words": entry.id}
        )
        for entry in entries
    )
    return Tier(name="messages", pieces=tuple(pieces))


def history_tier(histories: Iterable[FactHistory]) -> Tier:
    """How facts changed, what began last first."""
    facts = [fact for history in histories for fact in history.facts]
    facts.sort(key=lambda fact: (fact.valid_from, fact.predicate, fact.id), reverse=True)
    pieces = tuple(
        PromptItem(kind="fact", name=fact.id, line=quote_change(fact), words=fact.id)
        for fact in facts
    )
    return Tier(name="history", pieces=pieces)


def _fact_words(fact: Fact) -> str:
    return f"{fact.subject} {fact.predicate} {fact.object}"


def _piece(entry: Entry, *, now: datetime, content: str, archived: bool = False) -> PromptItem:
    """An entry as an item of a prompt, with what is quoted of its content."""
    line = quote_memory(
        content,
        by=entry.speaker,
        channel=entry.channel,
        at=entry.at,
        when=time_in_words(entry.at, now=now),
        archived=archived,
    )
    return PromptItem(kind="memory", name=entry.id, line=line, words=entry.content)
