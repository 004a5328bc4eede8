"""Summaries of categories: what is so of somebody, many facts in a line.

They are about whom a question names, and are computed from the facts about them each time.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable

from pydantic import ConfigDict

from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.knowledge.facts import Fact
from mnestic.memory.knowledge.predicates import Category

FEWEST_FACTS = 3  # of a category; fewer are listed one by one
LONGEST = 400  # characters of a summary
_JOINS = re.compile(r"[;:,\n\r\u2028\u2029]|\band\b", re.IGNORECASE)  # what stands between facts


class CategorySummary(DeferredModel):
    """The valid facts of one category as a line; `facts` are those in it, the latest first."""

    model_config = ConfigDict(frozen=True)

    category: Category
    text: str
    facts: tuple[Fact, ...] = ()


def summaries_of(
    facts: Iterable[Fact], *, topics: Collection[str] = ()
) -> tuple[CategorySummary, ...]:
    """A summary for each category with enough facts, the one that changed last first.

    Args:
        facts: Valid facts. Those that began last come first, and those that do not fit the line are left out, as are
            facts that have an end or could be read as several facts.
        topics: Predicates of the query. Their facts are in no summary, since they are listed in full.
    """
    by_category: defaultdict[Category, list[Fact]] = defaultdict(list)
    for fact in sorted(facts, key=lambda fact: (-fact.valid_from.timestamp(), fact.id)):
        if fact.predicate not in topics and is_plain(fact):
            by_category[fact.category].append(fact)
    summaries = (_summary(category, of_it) for category, of_it in by_category.items())
    return tuple(summary for summary in summaries if len(summary.facts) >= FEWEST_FACTS)


def _summary(category: Category, facts: list[Fact]) -> CategorySummary:
    summaries: list[Fact] = []
    for fact in facts:
        if len(_text([*summaries, fact])) <= LONGEST:
            summaries.append(fact)
    return CategorySummary(category=category, text=_text(summaries), facts=tuple(summaries))


def is_plain(fact: Fact) -> bool:
    """Whether a fact can stand in a summary: it has no end, and its text cannot be read as several facts."""
    return fact.valid_to is None and not any(
        _JOINS.search(part) for part in (fact.subject, fact.object)
    )


def _text(facts: Iterable[Fact]) -> str:
    """Such as `Mara: lives in Ghent, likes tea and jazz; Tom: lives in Bergen`."""
    objects: defaultdict[str, defaultdict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for fact in facts:
        objects[fact.subject][fact.predicate.replace("_", " ")].append(fact.object)
    return "; ".join(
        f"{subject}: "
        + ", ".join(f"{predicate} {' and '.join(each)}" for predicate, each in predicates.items())
        for subject, predicates in objects.items()
    )
