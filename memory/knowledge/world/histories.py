"""The history of a topic: all facts about a subject and a predicate, why each ended, and who said so.

It only says what came of the rules that make facts.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from pydantic import ConfigDict

from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.knowledge.claims import Cardinality, Claim
from mnestic.memory.knowledge.facts import Fact, FactEnd
from mnestic.memory.knowledge.predicates import Category

_REASONS: Mapping[FactEnd, str] = MappingProxyType(
    {
        "superseded": "superseded",
        "corrected": "corrected: it never was so",
        "ended": "said to be over",
        "past": "was over when it was said",
        "faded": "faded: nobody has said or used it for a long time",
        "undone": "undone: what it superseded was reactivated",
        "deleted": "deleted for good",
    }
)


class FactVersion(Fact):
    """A fact of a history: the reason of its end in words, and the claims that it follows from."""

    reason: str | None = None
    said: tuple[Claim, ...] = ()


class FactHistory(DeferredModel):
    """All facts about a subject and a predicate, the earliest first; none if nothing was ever said."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    subject: str
    predicate: str
    cardinality: Cardinality
    category: Category
    facts: tuple[FactVersion, ...]


def history_of(facts: Iterable[Fact], claims: Iterable[Claim]) -> tuple[FactVersion, ...]:
    """The facts of one topic as a history.

    Args:
        facts: All of them, whatever their status.
        claims: Those that they follow from.
    """
    said = {claim.id: claim for claim in claims}
    ordered = sorted(facts, key=_place)
    objects = {fact.id: fact.object for fact in ordered}
    return tuple(
        FactVersion(
            **fact.model_dump(),
            reason=_reason(fact, objects.get(fact.superseded_by or "")),
            said=tuple(said[claim] for claim in fact.claims if claim in said),
        )
        for fact in ordered
    )


def _place(fact: Fact) -> tuple[object, ...]:
    """By beginning; of two that begin together, what never was comes first."""
    open_ended = fact.valid_to is None
    return (fact.valid_from, open_ended, fact.valid_to or fact.valid_from, fact.id)


def _reason(fact: Fact, successor: str | None) -> str | None:
    if fact.end is None:
        return None
    by = f" by {successor}" if successor and fact.end == "superseded" else ""
    instead = f", but {successor}" if successor and fact.end == "corrected" else ""
    return f"{_REASONS[fact.end]}{by}{instead}"
