"""Categories of facts, each with a summary that is stored: what is known in short, also where a question names nobody.

A stored summary could outlive its facts. So whatever changes a fact clears the summary of its category in the same
transaction, and a summary that is cleared is written from the facts as they are.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple, Protocol, get_args

from pydantic import AwareDatetime, ConfigDict

from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.knowledge.facts import Fact
from mnestic.memory.knowledge.predicate_sentences import sentence_of
from mnestic.memory.knowledge.predicates import Category
from mnestic.memory.knowledge.world.summaries import is_plain

CATEGORIES: tuple[Category, ...] = get_args(Category)
MOST_FACTS = 50  # of a summary
MOST_TOKENS = 150
_SENTENCES = re.compile(r"[.!?]\s")  # what could be read as several facts


class CategoryOverview(DeferredModel):
    """A category of an agent's facts, its summary, and when that was written or last cleared.

    Attributes:
        name: The category.
        summary: Short sentences, those about one subject together; empty if nothing is known.
        updated_at: A category that changed later has a later one.
    """

    model_config = ConfigDict(frozen=True)

    name: Category
    summary: str
    updated_at: AwareDatetime


class StoredCategory(DeferredModel):
    """A category as it is stored: without a summary if a fact has changed since, and then with its latest facts.

    `model` is the chat model that was asked to write the summary; None if none was.
    """

    model_config = ConfigDict(frozen=True)

    name: Category
    summary: str | None
    model: str | None = None
    updated_at: AwareDatetime
    facts: tuple[Fact, ...] = ()


class LocalSummaries(NamedTuple):
    """Agents with summaries that no chat model was asked for: those that have waited longest, and how many there are."""

    agent_ids: tuple[str, ...]
    number: int


class CategoryStore(Protocol):
    """The categories of an agent."""

    async def lock(self) -> None:
        """Has no other transaction change a fact, and with it a category, until this one ends."""
        ...

    async def read(self, now: datetime, *, with_facts: bool = False) -> tuple[StoredCategory, ...]:
        """The categories in which there is or was a fact, by name.

        Args:
            now: The moment at which their facts are so.
            with_facts: Whether all have their facts; else only those without a summary do.
        """
        ...

    async def put(self, summaries: Mapping[Category, str], *, at: datetime) -> None:
        """Writes summaries of categories that are there."""
        ...

    async def rewrite(self, category: StoredCategory, summary: str, *, model: str) -> bool:
        """Replaces a summary by that of a chat model; whether it was still the same, and no fact has changed."""
        ...

    async def list_local(
        self, agent_id: str | None, *, without: Collection[str] = (), limit: int
    ) -> LocalSummaries:
        """The agents of the tenant except some, or the one, with summaries that no chat model was asked for."""
        ...

    async def count_without_model(self, agent_id: str | None) -> int:
        """How many summaries of the tenant, or of the one agent, the next night would ask a chat model for."""
        ...


def overview_of(
    category: StoredCategory, *, now: datetime, count_tokens: Callable[[str], int]
) -> CategoryOverview:
    """The summary of a category: as it is stored, or else of its facts, the latest first as far as they fit."""
    summary = category.summary
    if summary is None:
        summary = _text(summarised_facts(category), now=now, count_tokens=count_tokens)
    return CategoryOverview(name=category.name, summary=summary, updated_at=category.updated_at)


def latest_overviews(
    categories: Iterable[CategoryOverview], *, number: int
) -> tuple[CategoryOverview, ...]:
    """The summaries that say something, the one that changed last first."""
    telling = [category for category in categories if category.summary]
    return tuple(sorted(telling, key=lambda one: (-one.updated_at.timestamp(), one.name))[:number])


def summarised_facts(category: StoredCategory) -> tuple[Fact, ...]:
    """The facts that a summary of a category may tell: those that cannot be read as several."""
    return tuple(
        fact
        for fact in category.facts
        if is_plain(fact) and not any(_SENTENCES.search(one) for one in (fact.subject, fact.object))
    )


def _text(facts: Sequence[Fact], *, now: datetime, count_tokens: Callable[[str], int]) -> str:
    sentences: dict[str, list[str]] = defaultdict(list)
    text = ""
    for fact in facts:
        of_subject = sentences[fact.subject]
        of_subject.append(sentence_of(fact, now=now))
        longer = " ".join(sentence for each in sentences.values() for sentence in each)
        if count_tokens(longer) > MOST_TOKENS:
            of_subject.pop()
        else:
            text = longer
    return text
