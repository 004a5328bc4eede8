"""Facts: what is or was believed of a subject, queries for facts, and changes of them.

`resolution` works them out of claims.
"""

from datetime import datetime
from typing import Literal, NamedTuple

from pydantic import AwareDatetime, ConfigDict

from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.knowledge.claims import Cardinality
from mnestic.memory.knowledge.predicates import Category

FactStatus = Literal["active", "archived", "deleted"]
MOST_CONFIDENT = 0.99
FactEnd = Literal["superseded", "corrected", "ended", "past", "undone", "deleted", "faded"]


class Interval(NamedTuple):
    """A time in which facts are to hold, at some moment from its first to its last.

    Of predicates that are `predicates` for, where nothing is known to have been so then, what is known first after it holds
    too, unless somebody said since when that is so.
    """

    first: datetime
    last: datetime
    predicates: frozenset[str] = frozenset()


class Fact(DeferredModel):
    """One thing that is or was believed of a subject.

    It was so from `valid_from` up to `valid_to` (None: it still is, as far as is known); an interval
    of no length means that it never was. `end` says why it is no longer active; what has `faded` may be so all the same.

    All but three fields follow from its claims. `used_at` is when it was last used, as far as a night's maintenance has seen, and
    `promotion` what use has added to its `confidence`. `decayed_confidence` is what is left of its `confidence` since it was last said or
    used, as weekly maintenance has computed it; None if it has not decayed.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str
    subject: str
    predicate: str
    object: str
    category: Category
    cardinality: Cardinality
    status: FactStatus
    confidence: float
    valid_from: AwareDatetime
    valid_to: AwareDatetime | None = None
    end: FactEnd | None = None
    supersedes: str | None = None
    superseded_by: str | None = None
    decayed_confidence: float | None = None
    promotion: float = 0.0
    used_at: AwareDatetime | None = None
    claims: tuple[str, ...]

    def is_valid_at(self, moment: datetime) -> bool:
        """Whether it was so at a moment, as far as is believed."""
        if self.status == "deleted" or moment < self.valid_from:
            return False
        return self.valid_to is None or moment < self.valid_to

    def begins_after(self, moment: datetime) -> bool:
        """Whether it is to come after a moment, as far as is believed."""
        return moment < self.valid_from != self.valid_to and self.status != "deleted"


def with_history(fact: Fact, before: Fact | None) -> Fact:
    """A fact as its claims have it, with what use has added, and decayed as before unless something was claimed since.

    Args:
        fact: As it follows from its claims.
        before: As it was stored.
    """
    if before is None:
        return fact
    confidence = round(min(MOST_CONFIDENT, fact.confidence + before.promotion), 4)
    decayed = before.decayed_confidence if before.claims == fact.claims else None
    return fact.model_copy(
        update={
            "confidence": confidence if before.promotion else fact.confidence,
            "promotion": before.promotion,
            "used_at": before.used_at,
            "decayed_confidence": decayed,
        }
    )


class FactQuery(DeferredModel):
    """Selects facts.

    Without `statuses` the active ones are, or with `as_of` all that were so at that moment, whatever
    became of them; with `ahead` also all that are to come after it. `believed_at` asks for what followed from the claims until a moment of ours.
    `subjects` are names or keys of whom facts are about.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    subjects: tuple[str, ...] | None = None
    predicate: str | None = None
    statuses: tuple[FactStatus, ...] | None = None
    as_of: AwareDatetime | None = None
    ahead: bool = False
    believed_at: AwareDatetime | None = None

    @property
    def of_statuses(self) -> tuple[FactStatus, ...]:
        """The statuses that it selects."""
        if self.as_of is None:
            return ("active",) if self.statuses is None else self.statuses
        stored: tuple[FactStatus, ...] = ("active", "archived")
        return stored if self.statuses is None else tuple({*stored} & {*self.statuses})

    def matches(self, fact: Fact) -> bool:
        """Whether a fact is of these statuses, and was so at that moment."""
        is_valid = (
            self.as_of is None
            or fact.is_valid_at(self.as_of)
            or (self.ahead and fact.begins_after(self.as_of))
        )
        return is_valid and fact.status in self.of_statuses


class FactChange(DeferredModel):
    """A fact that is believed otherwise than before.

    `before` is None for a new one; `after` for one that never was, given what is claimed now.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    before: Fact | None = None
    after: Fact | None = None

    @property
    def fact(self) -> Fact:
        """The fact as it is now, or as it was last."""
        fact = self.after or self.before
        assert fact is not None, "a change is of something"
        return fact
