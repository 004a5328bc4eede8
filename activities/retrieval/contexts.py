"""Builds contexts: blocks for a prompt about a query, a conversation, a topic or a subject.

It only reads, and keeps within one budget.
"""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import get_args

from mnestic.activities.callers import Caller
from mnestic.activities.knowledge.categories import read_categories
from mnestic.activities.knowledge.subjects import find_subjects
from mnestic.activities.retrieval.query_models import QueryModels
from mnestic.activities.retrieval.retrieval import Begin, retrieve
from mnestic.memory.knowledge.entries import EntryQuery, EntryType
from mnestic.memory.knowledge.facts import Fact, FactStatus, Interval
from mnestic.memory.knowledge.predicates import default_predicates
from mnestic.memory.knowledge.world.categories import CategoryOverview
from mnestic.memory.knowledge.world.period_summaries import SummarySearch
from mnestic.memory.knowledge.world.summaries import summaries_of
from mnestic.memory.knowledge.world.world_model import world_of
from mnestic.memory.language.word_forms import stems_of
from mnestic.memory.packing import Tier
from mnestic.memory.ports import TokenCounter, Transaction
from mnestic.memory.retrieval.agent_settings import settings_of
from mnestic.memory.retrieval.contexts import (
    CONVERSATION,
    HISTORY,
    MOST_FACTS,
    PATTERNS,
    QUERY,
    TIERS,
    Context,
    Frame,
    TierName,
    context_of,
    fact_tier,
    history_tier,
    message_tier,
    overview_tier,
    period_tier,
    search_tier,
    summary_search,
    summary_tier,
)
from mnestic.memory.retrieval.queries import RetrievalPolicy, RetrievalQuery

LEARNED: tuple[EntryType, ...] = ("pattern", "learning", "insight")
_SEARCH: tuple[TierName, ...] = ("search",)
_LATELY = timedelta(hours=2)
_BARELY = 1e-6  # a score; with 0, what has nothing to do with the question would come too
_PAGE = 1000


class ContextBuilder:
    """Builds contexts."""

    def __init__(
        self,
        *,
        models: QueryModels,
        count_tokens: TokenCounter,
    ) -> None:
        """Prepares the builder.

        Args:
            models: Those that questions ask.
            count_tokens: Counts exactly.
        """
        self._models, self._count_tokens = models, count_tokens

    async def for_query(
        self,
        caller: Caller,
        query: RetrievalQuery,
        *,
        max_tokens: int,
        tiers: Collection[TierName] = TIERS,
        policy: RetrievalPolicy | None = None,
        frame: Frame = QUERY,
    ) -> Context:
        """What is known about a question: of whom it names, summaries and facts, and what search finds.

        For a question about the present that names nobody, the summaries are those of the categories that changed last. A
        large memory begins with its summaries by time.

        Args:
            caller: Whose memory it is.
            query: The question; `min_score` is what search has to score, `limit` how many entries it finds.
            max_tokens: What the whole block may have.
            tiers: Which of them are wanted.
            policy: The weights of search; the agent's own without one.
            frame: The form of its lines.
        """
        caller = caller.for_reader(query.reader)
        async with caller() as transaction:
            now = query.asked_at or query.as_of or await transaction.now()
            policy = policy or settings_of(await transaction.settings.read()).policy
        least = policy.min_score if query.min_score is None else query.min_score
        # Entries with lower scores are queried too, since the ledger names them.
        found = await retrieve(
            caller,
            query.model_copy(update={"min_score": _BARELY, "asked_at": now}),
            embedders=self._models.embedders(caller),
            rerankers=self._models.rerankers(caller),
            policy=policy,
        )
        wanted = []
        facts: tuple[Fact, ...] = ()
        if not {"summaries", "facts"}.isdisjoint(tiers):
            past = None if query.as_of else _past_interval(found.period, now=now)
            async with caller() as transaction:
                facts = await _facts_about(
                    transaction, found.names, moment=query.as_of or now, past=past
                )
            topics = _topics(query.text, facts) if "facts" in tiers else frozenset()
            if "summaries" in tiers and found.names:
                wanted.append(summary_tier(summaries_of(facts, topics=topics)))
            elif "summaries" in tiers and not query.is_filtered and found.period is None:
                wanted.append(overview_tier(await self.list_categories(caller)))
            if "facts" in tiers:
                wanted.append(fact_tier(facts, topics=topics))
        search = summary_search(query, found.period) if "summaries" in tiers else None
        if search is not None:
            wanted = [*await _summaries_by_time(caller, search), *wanted]
        if "search" in tiers:
            wanted.append(search_tier(found.results, min_score=least, now=now, facts=facts))
        return context_of(
            frame,
            wanted,
            max_tokens=max_tokens,
            count_tokens=self._count_tokens,
            skipped=found.skipped,
        )

    async def list_categories(self, begin: Begin) -> tuple[CategoryOverview, ...]:
        """The categories of an agent, each with its summary."""
        async with begin() as transaction:
            now = await transaction.now()
            return await read_categories(transaction, now=now, count_tokens=self._count_tokens)

    async def of_conversation(
        self, begin: Begin, session_id: str, *, max_tokens: int, limit: int
    ) -> Context:
        """What was said in a session lately: of the last two hours, so many messages."""
        async with begin() as transaction:
            now = await transaction.now()
            query = EntryQuery(
                entry_types=("interaction",), session_id=session_id, since=now - _LATELY
            )
            latest, _ = await transaction.entries.list_entries(query, limit=limit)
        return context_of(
            CONVERSATION,
            [message_tier(latest, now=now)],
            max_tokens=max_tokens,
            count_tokens=self._count_tokens,
        )

    async def learned_patterns(
        self, caller: Caller, topic: RetrievalQuery, *, max_tokens: int
    ) -> Context:
        """What was learned of a topic: patterns, lessons and insights, the surest first."""
        only = topic.model_copy(update={"entry_types": LEARNED})
        return await self.for_query(
            caller, only, max_tokens=max_tokens, tiers=_SEARCH, frame=PATTERNS
        )

    async def of_history(self, begin: Begin, subject: str, *, max_tokens: int) -> Context:
        """How facts about a subject changed: those that ended, and what took their place."""
        async with begin() as transaction:
            now = await transaction.now()
            about = await find_subjects(transaction, subject)
            facts = await _all_facts(transaction, about)
            claims = await transaction.facts.list_claims_about(about)
        world = world_of(subject, facts, claims, now=now)
        return context_of(
            HISTORY,
            [history_tier(world.changes)],
            max_tokens=max_tokens,
            count_tokens=self._count_tokens,
        )


async def _summaries_by_time(caller: Caller, search: SummarySearch) -> tuple[Tier, ...]:
    """The first tier of a large memory: its summaries by time. Others have none."""
    async with caller() as transaction:
        found = await transaction.summaries.find(search)
    return (period_tier(found, search),) if found else ()


def _topics(question: str, facts: Sequence[Fact]) -> frozenset[str]:
    """The predicates of facts whose names have a word of the question, in any form."""
    asked = stems_of(question)
    return frozenset(
        predicate
        for predicate in {fact.predicate for fact in facts}
        if not asked.isdisjoint(stems_of(predicate.replace("_", " ")))
    )


def _past_interval(period: tuple[datetime, datetime] | None, *, now: datetime) -> Interval | None:
    """The past period that a question names, at some moment of which facts have to be valid."""
    if period is None or period[1] > now:
        return None
    states = frozenset(default_predicates().states)
    return Interval(period[0], period[1] - timedelta(microseconds=1), states)


async def _facts_about(
    transaction: Transaction, names: Sequence[str], *, moment: datetime, past: Interval | None
) -> tuple[Fact, ...]:
    """What is so at a moment of those whom a question names, or was in the past that it asks about."""
    facts: dict[str, Fact] = {}
    for name in names[:MOST_FACTS]:
        if past is None:
            page, _ = await transaction.facts.list_facts(subject=name, as_of=moment, limit=_PAGE)
        else:
            page = await transaction.facts.list_valid(name, past, limit=_PAGE)
        facts |= {fact.id: fact for fact in page}
    return tuple(facts.values())


async def _all_facts(transaction: Transaction, subject: Sequence[str]) -> tuple[Fact, ...]:
    facts: list[Fact] = []
    cursor, more = None, True
    while more:
        page, cursor = await transaction.facts.list_facts(
            subject=subject, statuses=get_args(FactStatus), limit=_PAGE, cursor=cursor
        )
        facts.extend(page)
        more = cursor is not None
    return tuple(facts)
