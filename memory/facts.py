"""Facts: what is believed, worked out of claims.

The facts about one subject and predicate are a function of the set of claims about them. So neither
the order in which messages arrive nor a repetition changes what is believed, and a rule that is
mended later can be applied to what was said before.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict

from mnestic.memory.claims import Cardinality, Claim, make_id, name_key
from mnestic.memory.predicates import Category, Predicate

FactStatus = Literal["active", "archived", "deleted"]
FactEnd = Literal["superseded", "corrected", "ended", "past", "undone", "deleted"]
_MOST_CONFIDENT = 0.99
_ZONE = timedelta(hours=12)
Place = tuple[str | None, str | None]  # session and source id of a message


class Fact(BaseModel):
    """One thing that is or was believed of a subject.

    It was so from `valid_from` up to `valid_to` (None: it still is, as far as is known); an interval
    of no length means that it never was. `end` says why it is no longer active.
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
    claims: tuple[str, ...]

    def holds_at(self, moment: datetime) -> bool:
        """Whether it was so at a moment, as far as is believed."""
        if self.status == "deleted" or moment < self.valid_from:
            return False
        return self.valid_to is None or moment < self.valid_to


class FactQuery(BaseModel):
    """Which facts are asked for.

    Without `statuses` the active ones are, or with `as_of` all that were so at that moment, whatever
    became of them. `believed_at` asks for what followed from the claims until a moment of ours.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    subject: str | None = None
    predicate: str | None = None
    statuses: tuple[FactStatus, ...] | None = None
    as_of: AwareDatetime | None = None
    believed_at: AwareDatetime | None = None

    @property
    def of_statuses(self) -> tuple[FactStatus, ...]:
        """The statuses of the facts that are asked for."""
        if self.as_of is None:
            return ("active",) if self.statuses is None else self.statuses
        held: tuple[FactStatus, ...] = ("active", "archived")
        return held if self.statuses is None else tuple({*held} & {*self.statuses})

    def asks_for(self, fact: Fact) -> bool:
        """Whether a fact is of these statuses, and was so at that moment."""
        held = self.as_of is None or fact.holds_at(self.as_of)
        return held and fact.status in self.of_statuses


class FactChange(BaseModel):
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


def resolve(claims: Iterable[Claim], *, owner: str, predicate: Predicate) -> tuple[Fact, ...]:
    """The facts that follow from all claims about one subject and predicate.

    Args:
        claims: In any order, with repetitions; they are taken in the order in which they were said.
        owner: Whose facts they are, for their ids.
        predicate: Of a `single` one, a new object takes the place of the one before.

    Returns:
        In the order in which they were first claimed.
    """
    said = {claim.id: claim for claim in claims}
    history = _History(owner=owner, predicate=predicate, said=said.values())
    for claim in sorted(said.values(), key=_order):
        history.take(claim)
    history.part()
    return tuple(draft.fact(predicate) for draft in history.drafts)


def _place(claim: Claim) -> Place:
    return (claim.source.session_id, claim.source.source_id)


def _order(claim: Claim) -> tuple[datetime, str, int, str]:
    span = claim.source.span
    return (claim.said_at, claim.source.source_id or "", span.start if span else 0, claim.id)


def _latest(moment: datetime) -> datetime:
    """The latest that a named time can mean: the first of a month or a year may stand for all of it."""
    first = moment + _ZONE  # of a month, in the offset of whoever said it
    if first.day > 1:
        return moment + timedelta(days=1)
    return moment + timedelta(days=366 if first.month == 1 else 31)


@dataclass(kw_only=True)
class _Draft:
    """A fact that is being worked out; `is_dated` when its beginning was named."""

    id: str
    first: Claim
    valid_from: datetime
    valid_to: datetime | None = None
    doubt: float = 1.0
    status: FactStatus = "active"
    end: FactEnd | None = None
    supersedes: str | None = None
    superseded_by: str | None = None
    claims: list[str] = field(default_factory=list)
    places: set[Place] = field(default_factory=set)
    is_dated: bool = False

    @property
    def object_key(self) -> str:
        return name_key(self.first.object or "")

    def back(self, claim: Claim) -> None:
        """One more claim says so."""
        self.doubt *= 1 - claim.confidence
        self.claims.append(claim.id)
        self.places.add(_place(claim))
        if claim.valid_from is not None:
            self.valid_from, self.is_dated = min(self.valid_from, claim.valid_from), True
        if claim.valid_to is not None:
            self.valid_to = claim.valid_to

    def close(self, end: FactEnd, *, at: datetime) -> None:
        self.status, self.end = "archived", end
        self.valid_to = max(self.valid_from, min(self.valid_to or at, at))

    def reopen(self) -> None:
        self.status, self.end, self.valid_to, self.superseded_by = "active", None, None, None

    def fact(self, predicate: Predicate) -> Fact:
        return Fact(
            id=self.id,
            subject=self.first.subject,
            predicate=self.first.predicate,
            object=self.first.object or "",
            category=predicate.category,
            cardinality=predicate.cardinality,
            status=self.status,
            confidence=round(min(_MOST_CONFIDENT, 1 - self.doubt), 4),
            valid_from=self.valid_from,
            valid_to=self.valid_to,
            end=self.end,
            supersedes=self.supersedes,
            superseded_by=self.superseded_by,
            claims=tuple(self.claims),
        )


class _History:
    """The facts about one subject and predicate, as the claims come by."""

    def __init__(self, *, owner: str, predicate: Predicate, said: Iterable[Claim]) -> None:
        self.drafts: list[_Draft] = []
        self._owner, self._is_single = owner, predicate.cardinality == "single"
        self._restated: dict[Place, set[str]] = defaultdict(set)
        for claim in said:
            if claim.source.corrects and claim.object:
                self._restated[_place(claim)].add(name_key(claim.object))

    def take(self, claim: Claim) -> None:
        """Takes the next claim."""
        if claim.kind in {"affirmed", "corrected"}:
            self._affirm(claim)
        elif claim.kind in {"ended", "retracted"}:
            self._close(claim)
        elif claim.kind == "reactivated":
            self._reactivate(claim)
        else:
            for draft in self._named(claim, self.drafts):
                draft.status, draft.end = "deleted", "deleted"
                draft.claims.append(claim.id)

    def part(self) -> None:
        """Ends what was superseded where the next begins, whatever was learned of that later."""
        by_id = {draft.id: draft for draft in self.drafts}
        for last in self.drafts:
            bound, draft = last.valid_from, None if last.superseded_by else last
            while draft is not None:
                before = by_id.get(draft.supersedes or "")
                if before is None or before.superseded_by != draft.id:
                    draft.supersedes = None  # what was there before has been reactivated
                    break
                if before.end == "superseded":
                    before.close("superseded", at=bound)
                    bound = min(bound, before.valid_from)
                draft = before

    def _close(self, claim: Claim) -> None:
        for draft in self._named(claim, self._active()) or self._meant(claim):
            is_earlier = (
                draft.is_dated and claim.valid_to and _latest(claim.valid_to) < draft.valid_from
            )
            if claim.kind == "ended" and is_earlier:
                continue  # what ended then was not this
            if claim.kind == "ended":
                draft.close("ended", at=claim.valid_to or claim.begins)
            else:
                draft.close("corrected", at=draft.valid_from)
            draft.claims.append(claim.id)

    def _meant(self, claim: Claim) -> list[_Draft]:
        """What "the move" means, where there is one such: "move to Antwerp"."""
        start = f"{name_key(claim.object or '')} to "
        meant = [draft for draft in self._active() if draft.object_key.startswith(start)]
        return meant if claim.kind == "ended" and len(meant) == 1 else []

    def _affirm(self, claim: Claim) -> None:
        is_past = claim.valid_to is not None and claim.valid_to <= claim.said_at
        same = self._named(claim, self._active())
        if same and not is_past:
            same[-1].back(claim)
            self._take_back(claim, same[-1])
            return
        if same and claim.valid_to and claim.valid_to > same[-1].valid_from:
            same[-1].close("ended", at=claim.valid_to)
            same[-1].claims.append(claim.id)
            return
        following = None if is_past else self._following(claim)
        if following and following.object_key == name_key(claim.object or ""):
            following.back(claim)
            return
        draft = self._draft(claim)
        if is_past:
            draft.close("past", at=draft.valid_to or claim.said_at)
        elif following:
            self._put_before(following, draft)
        elif self._is_single:
            self._replace(claim, draft)
        else:
            self._take_back(claim, draft)
        self.drafts.append(draft)

    def _take_back(self, claim: Claim, draft: _Draft) -> None:
        """Of many objects, those that the corrected message named and the correction does not."""
        if self._is_single or claim.source.corrects is None:
            return
        wrong = (claim.source.session_id, claim.source.corrects)
        for old in self._active():
            if wrong in old.places and old.object_key not in self._restated[_place(claim)]:
                old.close("corrected", at=old.valid_from)
                if draft.supersedes is None:
                    old.superseded_by, draft.supersedes = draft.id, old.id

    def _following(self, claim: Claim) -> _Draft | None:
        """Of one object at a time, what began after a claim's own day, however late that is told."""
        if not self._is_single or claim.kind != "affirmed" or claim.valid_from is None:
            return None
        begin = _latest(claim.valid_from)
        later = [
            draft
            for draft in self.drafts
            if draft.end in {None, "superseded", "ended"} and draft.valid_from >= begin
        ]
        if not any(draft.is_dated for draft in later):
            return None  # "I live in Munich" does not say since when
        return min(later, key=lambda draft: draft.valid_from)

    def _put_before(self, following: _Draft, draft: _Draft) -> None:
        """Puts a draft into the chain before the one that began after it."""
        draft.close("superseded", at=following.valid_from)
        for one in self.drafts:
            if one.superseded_by == following.id:
                one.superseded_by, draft.supersedes = draft.id, one.id
        draft.superseded_by, following.supersedes = following.id, draft.id

    def _replace(self, claim: Claim, draft: _Draft) -> None:
        for old in self._active():
            if claim.kind == "corrected":
                old.close("corrected", at=old.valid_from)
                ends = draft.valid_to or old.valid_from
                if claim.valid_from is None and ends >= old.valid_from:  # it was so instead
                    draft.valid_from, draft.is_dated = old.valid_from, old.is_dated
            else:
                old.close("superseded", at=claim.begins)
            old.superseded_by, draft.supersedes = draft.id, old.id

    def _reactivate(self, claim: Claim) -> None:
        archived = [draft for draft in self.drafts if draft.status == "archived"]
        wanted = self._named(claim, archived)
        if not wanted or self._named(claim, self._active()):
            return
        if self._is_single:
            for draft in self._after(wanted[-1]):
                self._yield(draft, to=wanted[-1])
        wanted[-1].reopen()
        wanted[-1].claims.append(claim.id)

    def _yield(self, draft: _Draft, *, to: _Draft) -> None:
        """Makes way for a draft that is reactivated: what began before it was so until then."""
        is_earlier = draft.valid_from < to.valid_from
        if is_earlier and draft.end in {None, "superseded", "ended"}:
            for one in self.drafts:  # the link goes to what it takes the place of now
                one.superseded_by = None if one.superseded_by == to.id else one.superseded_by
            draft.close("superseded", at=to.valid_from)
            draft.superseded_by, to.supersedes = to.id, draft.id
        else:
            draft.close("undone", at=draft.valid_from)
            draft.superseded_by = None

    def _after(self, draft: _Draft) -> list[_Draft]:
        """What has been so since a draft's end: all that its going on would contradict."""
        end = draft.valid_to
        return [
            one
            for one in self.drafts
            if one is not draft
            and one.end not in {"deleted", "corrected"}
            and (one.valid_to is None or end is None or one.valid_to > end)
        ]

    def _draft(self, claim: Claim) -> _Draft:
        key = name_key(claim.object or "")
        times = sum(draft.object_key == key for draft in self.drafts)
        parts = (self._owner, name_key(claim.subject), claim.predicate, key, times)
        draft = _Draft(id=make_id(*parts), first=claim, valid_from=self._began(claim))
        draft.back(claim)
        return draft

    @staticmethod
    def _began(claim: Claim) -> datetime:
        """When it began; what is over by now began before it was over."""
        if claim.valid_to is None or claim.valid_from is not None:
            return claim.begins
        return min(claim.said_at, claim.valid_to)

    def _active(self) -> list[_Draft]:
        return [draft for draft in self.drafts if draft.status == "active"]

    @staticmethod
    def _named(claim: Claim, drafts: list[_Draft]) -> list[_Draft]:
        """Those of the claim's object; all of them for a claim that names none."""
        if claim.object is None:
            return list(drafts)
        key = name_key(claim.object)
        return [draft for draft in drafts if draft.object_key == key]
