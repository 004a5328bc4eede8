"""Categories of facts, each with a summary that is stored: what is known in short, also where a question names nobody.

A stored summary could outlive its facts. So whatever changes a fact clears the summary of its category in the same
transaction, and a summary that is cleared is written from the facts as they are.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Protocol, get_args

from pydantic import AwareDatetime, ConfigDict

from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.knowledge.derived_entries import sentence_of
from mnestic.memory.knowledge.facts import Fact
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
    """A category as it is stored: without a summary if a fact has changed since, and then with its latest facts."""

    model_config = ConfigDict(frozen=True)

    name: Category
    summary: str | None
    updated_at: AwareDatetime
    facts: tuple[Fact, ...] = ()


class CategoryStore(Protocol):
    """The categories of an agent."""

    async def lock(self) -> None:
        """Has no other transaction change a fact, and with it a category, until this one ends."""
        ...

    async def read(self, now: datetime) -> tuple[StoredCategory, ...]:
        """The categories in which there is or was a fact, by name; those without a summary with facts that are so at a moment."""
        ...

    async def put(self, summaries: Mapping[Category, str], *, at: datetime) -> None:
        """Writes summaries of categories that are there."""
        ...


def overview_of(
    category: StoredCategory, *, now: datetime, count_tokens: Callable[[str], int]
) -> CategoryOverview:
    """The summary of a category: as it is stored, or else of its facts, the latest first as far as they fit."""
    summary = category.summary
    if summary is None:
        summary = _text(category.facts, now=now, count_tokens=count_tokens)
    return CategoryOverview(name=category.name, summary=summary, updated_at=category.updated_at)


def latest_overviews(
    categories: Iterable[CategoryOverview], *, number: int
) -> tuple[CategoryOverview, ...]:
    """The summaries that say something, the one that changed last first."""
    telling = [category for category in categories if category.summary]
    return tuple(sorted(telling, key=lambda one: (-one.updated_at.timestamp(), one.name))[:number])


def _text(facts: Sequence[Fact], *, now: datetime, count_tokens: Callable[[str], int]) -> str:
    sentences: dict[str, list[str]] = defaultdict(list)
    text = ""
    for fact in facts:
        if not is_plain(fact) or any(_SENTENCES.search(one) for one in (fact.subject, fact.object)):
            continue
        of_subject = sentences[fact.subject]
        of_subject.append(sentence_of(fact, now=now))
        longer = " ".join(sentence for each in sentences.values() for sentence in each)
        if count_tokens(longer) > MOST_TOKENS:
            of_subject.pop()
        else:
            text = longer
    return text
