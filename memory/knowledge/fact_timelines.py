"""Lines: what cannot be so at the same time, in the order of time, and when each of it was so.

Of a predicate with one object all that is believed of a subject stands on one line, of others each
object on its own. One rule says when each was so: *from its beginning until anything behind it on the
line begins, or until it ended, if that is earlier.* So no two are ever so at once, and only what somebody
ended or deleted leaves a time without any. The last is the active one, unless it has ended.

What was over when it was said stands on no line: it was so where the line leaves a time free. `resolution` says how
claims come to stand on a line.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal

from mnestic.memory.knowledge.claims import Claim, name_key
from mnestic.memory.knowledge.facts import MOST_CONFIDENT, Fact, FactEnd, FactStatus
from mnestic.memory.knowledge.predicates import Predicate

_ZONE = timedelta(hours=12)
Place = tuple[str | None, str | None]  # session and source id of a message


def source_of(claim: Claim) -> Place:
    """The message that claims it."""
    return (claim.source.session_id, claim.source.source_id)


def latest(moment: datetime) -> datetime:
    """The latest that a named time can mean: the first of a month or a year may stand for all of it."""
    first = moment + _ZONE  # of a month, in the offset of whoever said it
    if first.day > 1:
        return moment + timedelta(days=1)
    return moment + timedelta(days=366 if first.month == 1 else 31)


@dataclass(kw_only=True, eq=False)
class FactDraft:
    """A fact that is being worked out; `key` is what spellings of its object have in common.

    `ends` is an end of its own, whatever comes after it, and `is_ended` says that it was told as an
    end; `is_dated`, that its beginning was named; `is_last`, that nothing takes its place; `is_faded`, that nobody has said so since maintenance stopped believing it. `off` says why it stands on no line. It may be so
    `instead` of another that was wrong. `until` and the two neighbours follow from the line.
    """

    id: str
    key: str
    first: Claim
    begins: datetime
    ends: datetime | None = None
    is_dated: bool = False
    is_ended: bool = False
    is_deleted: bool = False
    is_faded: bool = False
    is_last: bool = False
    off: Literal["past", "corrected", "undone"] | None = None
    instead: "FactDraft | None" = None
    until: datetime | None = None
    before: "FactDraft | None" = None
    after: "FactDraft | None" = None
    uncertainty: float = 1.0
    claims: list[str] = field(default_factory=list)
    places: set[Place] = field(default_factory=set)

    @property
    def is_active(self) -> bool:
        """Whether it is believed to be so, or to have been so."""
        return self.off in {None, "past"} and not self.is_deleted

    def back(self, claim: Claim) -> None:
        """One more claim says so."""
        self.is_faded = False
        self.uncertainty *= 1 - claim.confidence
        self.claims.append(claim.id)
        self.places.add(source_of(claim))
        self.begins = min(self.begins, claim.begins)
        self.is_dated = self.is_dated or claim.valid_from is not None
        if claim.valid_to is not None:
            self.ends, self.is_ended = claim.valid_to, claim.valid_to <= claim.said_at

    def doubt(self, claim: Claim) -> None:
        """A claim that is not sure of it says that it is not so."""
        self.uncertainty = 1 - (1 - self.uncertainty) * (1 - claim.confidence)
        self.claims.append(claim.id)

    def end(self, claim: Claim, *, at: datetime) -> None:
        """It is said to have ended."""
        self.claims.append(claim.id)
        self.ends, self.is_ended = min(self.ends or at, at), True

    def is_superseded(self, claim: Claim) -> bool:
        """Whether it had ended when a claim says that the same is so."""
        return self.ends is not None and self.ends <= max(claim.begins, claim.said_at)

    def lasts(self, bound: datetime | None) -> datetime | None:
        """When it was so no longer, if what is behind it begins at `bound`."""
        ends = [moment for moment in (self.ends, bound) if moment is not None]
        return max(self.begins, min(ends)) if ends else None

    def fact(self, predicate: Predicate) -> Fact:
        """The fact that it is in the end."""
        status, end = self._fate()
        return Fact(
            id=self.id,
            subject=self.first.subject,
            predicate=self.first.predicate,
            object=self.first.object or "",
            category=predicate.category,
            cardinality=predicate.cardinality,
            status=status,
            confidence=round(min(MOST_CONFIDENT, 1 - self.uncertainty), 4),
            valid_from=self.begins,
            valid_to=self.until,
            end=end,
            supersedes=self.before and self.before.id,
            superseded_by=self.after and self.after.id,
            claims=tuple(self.claims),
        )

    def _fate(self) -> tuple[FactStatus, FactEnd | None]:
        if self.is_deleted:
            return "deleted", "deleted"
        if self.off is not None:
            return "archived", self.off
        if self.after is not None:
            return "archived", "superseded"
        if self.is_ended:
            return "archived", "ended"
        return ("archived", "faded") if self.is_faded else ("active", None)


class FactTimeline:
    """What cannot be so at the same time."""

    def __init__(self) -> None:
        self.drafts: list[FactDraft] = []

    @property
    def active(self) -> FactDraft | None:
        """The last, unless it has ended."""
        last = self.drafts[-1] if self.drafts else None
        return None if last is None or last.is_ended or last.is_deleted else last

    def holding(self, moment: datetime, *, key: str | None) -> FactDraft | None:
        """What was so at a moment: of an object's key, or whichever."""
        for draft, bound in self.bounded():
            until = draft.lasts(bound)
            holds = draft.begins <= moment and (until is None or moment < until)
            if holds and draft.is_active and key in {None, draft.key}:
                return draft
        return None

    def position(self, claim: Claim) -> int:
        """Where a claim comes to stand: before what is dated to begin after it, or at the end.

        What nobody dated ("I live in Munich") has no beginning that another could be before.
        """
        if claim.valid_from is None:
            later = [draft for draft in self.drafts if draft.begins > claim.said_at]
        else:
            begin = latest(claim.valid_from)
            later = [draft for draft in self.drafts if draft.begins >= begin]
        later = [draft for draft in later if draft.is_active]
        if not any(draft.is_dated for draft in later):
            return len(self.drafts)
        return self.drafts.index(min(later, key=lambda draft: draft.begins))

    def same(self, claim: Claim, *, position: int) -> FactDraft | None:
        """What stands there already and says the same as a claim."""
        key = name_key(claim.object or "")
        before = self.drafts[position - 1] if position else None
        for draft in (self.active, before):
            if draft and draft.key == key and draft.is_active and not draft.is_superseded(claim):
                return draft
        after = self.drafts[position] if position < len(self.drafts) else None
        return after if after and after.key == key and after.is_active else None

    def remove(self, draft: FactDraft) -> None:
        """Takes a draft off the line, if it is there."""
        self.drafts = [one for one in self.drafts if one is not draft]

    def bounded(self) -> Iterator[tuple[FactDraft, datetime | None]]:
        """The drafts, the last first, and when anything behind each begins."""
        bound: datetime | None = None
        for draft in reversed(self.drafts):
            yield draft, bound
            bound = draft.begins if bound is None else min(bound, draft.begins)

    def part(self, past: Iterable[FactDraft]) -> None:
        """Ends each draft where the next begins, and lets what is past be so where a time is free."""
        behind: FactDraft | None = None
        for draft, bound in self.bounded():
            draft.until = draft.lasts(None if draft.is_last else bound)
            has_ended = draft.is_ended and (bound is None or (draft.ends or bound) < bound)
            if behind is not None and not (has_ended or draft.is_last):
                supersede(draft, behind)
            behind = draft
        taken = [draft for draft in self.drafts if draft.is_active]
        for draft in past:
            _fit(draft, taken)
            taken.append(draft)


def supersede(before: FactDraft, after: FactDraft) -> None:
    """One draft takes the place of another; what was wrong and corrected stands between them."""
    while after.before is not None:
        after = after.before
    before.after, after.before = after, before


def _fit(draft: FactDraft, taken: Iterable[FactDraft]) -> None:
    """Cuts a past fact down to its first free time; if there is none, its interval is empty."""
    begins, ends = draft.begins, draft.ends or draft.begins
    later = [other for other in taken if other.until is None or begins < other.until]
    for other in sorted(later, key=lambda other: other.begins):
        if other.begins == other.until:
            continue
        if other.begins > begins:
            ends = min(ends, other.begins)
            break
        begins = max(begins, other.until or ends)
    is_free = begins < ends
    draft.begins, draft.until = (begins, ends) if is_free else (draft.begins, draft.begins)
