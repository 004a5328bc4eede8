"""Resolution: which facts follow from all claims about a subject and a predicate.

Claims are taken in the order in which they were said, and come to stand on `lines`, which say when each
was so. A claim stands at the end of its line, or before what is dated to begin after it. What never was
so (corrected, retracted, undone by a reactivation, called off or deleted before it began) leaves the line,
and what stood before it is so until the next; a correction stands where that stood which was wrong.

The facts are a function of the set of claims. So neither the order in which messages arrive nor a
repetition changes what is believed, and a rule that is mended later can be applied to what was said
before.
"""

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime
from typing import Literal

from mnestic.memory.knowledge.claims import Claim, make_id, may_mean, name_key
from mnestic.memory.knowledge.fact_timelines import (
    FactDraft,
    FactTimeline,
    Place,
    latest,
    source_of,
    supersede,
)
from mnestic.memory.knowledge.facts import Fact
from mnestic.memory.knowledge.predicates import Predicate

_SURE = 0.5  # the confidence from which a retraction takes a fact out


def resolve(claims: Iterable[Claim], *, owner: str, predicate: Predicate) -> tuple[Fact, ...]:
    """The facts that follow from all claims about one subject and predicate.

    Args:
        claims: In any order, with repetitions; they are taken in the order in which they were said.
        owner: Whose facts they are, for their ids.
        predicate: Of a `single` one, a new object takes the place of the one before.

    Returns:
        In the order in which they were first claimed.
    """
    by_id = {claim.id: claim for claim in claims}
    topic = _Topic(owner=owner, predicate=predicate, claims=by_id.values())
    for claim in sorted(by_id.values(), key=_order):
        topic.take(claim)
    return topic.facts()


def _order(claim: Claim) -> tuple[object, ...]:
    """By when it was said; of the same words, what is so no longer comes before what is.

    But a value that is corrected is taken back after the right one, which stands in its place.
    """
    span, source_id = claim.source.span, claim.source.source_id or ""
    is_named_wrong = claim.kind == "retracted" and claim.object is not None
    rank = 1 if claim.kind == "corrected" else 2 if is_named_wrong else 3
    rank = 0 if claim.kind in {"ended", "retracted"} and not is_named_wrong else rank
    return (claim.said_at, source_id, span.start if span else 0, rank, claim.id)


def _began(claim: Claim) -> datetime:
    """When it began; what is over by now began before it was over."""
    if claim.valid_to is None or claim.valid_from is not None:
        return claim.begins
    return min(claim.said_at, claim.valid_to)


class _Topic:
    """All that was claimed of one subject and predicate, as the claims come by."""

    def __init__(self, *, owner: str, predicate: Predicate, claims: Iterable[Claim]) -> None:
        self._owner, self._predicate = owner, predicate
        self._is_single = predicate.cardinality == "single"
        self._drafts: list[FactDraft] = []
        self._lines: dict[str, FactTimeline] = defaultdict(FactTimeline)
        self._restated: dict[Place, set[str]] = defaultdict(set)
        for claim in claims:
            if claim.source.corrects and claim.object:
                self._restated[source_of(claim)].add(name_key(claim.object))

    def take(self, claim: Claim) -> None:
        """Takes the next claim."""
        if claim.kind in {"affirmed", "corrected"}:
            is_past = claim.valid_to is not None and claim.valid_to <= claim.said_at
            (self._affirm_past if is_past else self._affirm)(claim)
        elif claim.kind == "ended":
            self._end(claim)
        elif claim.kind == "retracted":
            self._retract(claim)
        elif claim.kind == "reactivated":
            self._reactivate(claim)
        elif claim.kind == "faded":
            self._fade(claim)
        else:
            self._delete(claim)

    def facts(self) -> tuple[Fact, ...]:
        """The facts, by what stands on the lines in the end."""
        for draft in self._drafts:
            draft.until = draft.begins
            if draft.instead is not None:
                supersede(draft.instead, draft)
        for name, line in self._lines.items():
            line.part([past for past in self._past() if self._is_single or past.key == name])
        return tuple(draft.fact(self._predicate) for draft in self._drafts)

    def _affirm(self, claim: Claim) -> None:
        line = self._line(name_key(claim.object or ""))
        wrong = self._wrong(line, claim)
        if wrong is not None:
            line.drafts[line.drafts.index(wrong)] = self._correct(wrong, claim)
            return
        position = line.position(claim)
        draft = line.same(claim, position=position)
        if draft is None:
            draft = self._draft(claim)
            line.drafts.insert(position, draft)
        else:
            draft.back(claim)
        self._take_back(claim, draft)

    def _wrong(self, line: FactTimeline, claim: Claim) -> FactDraft | None:
        """Of one object at a time, what a correction takes the place of, if that is another object.

        It is what the corrected message said, if that stands, and else what is believed.
        """
        if not self._is_single or claim.kind != "corrected":
            return None
        corrected = (claim.source.session_id, claim.source.corrects)
        corrected_drafts = [
            draft for draft in line.drafts if draft.is_active and corrected in draft.places
        ]
        wrong = corrected_drafts[-1] if claim.source.corrects and corrected_drafts else line.active
        return None if wrong is None or wrong.key == name_key(claim.object or "") else wrong

    def _correct(self, wrong: FactDraft, claim: Claim) -> FactDraft:
        """What is so instead, since its own day or since what was wrong."""
        draft = self._draft(claim)
        if claim.valid_from is None and (draft.ends or wrong.begins) >= wrong.begins:
            draft.begins, draft.is_dated = wrong.begins, wrong.is_dated
        draft.places |= wrong.places
        wrong.off, draft.instead = "corrected", wrong
        return draft

    def _take_back(self, claim: Claim, draft: FactDraft) -> None:
        """Of many objects, those that the corrected message named and the correction does not."""
        if self._is_single or claim.source.corrects is None:
            return
        corrected = (claim.source.session_id, claim.source.corrects)
        for line in self._lines.values():
            wrong = line.active
            if wrong is None or wrong.key in self._restated[source_of(claim)]:
                continue
            if corrected in wrong.places:
                self._leave(wrong, "corrected")
                draft.instead = draft.instead or wrong

    def _affirm_past(self, claim: Claim) -> None:
        """What was over when it was said ends the same that was so then, and is else a fact of its own."""
        key, over = name_key(claim.object or ""), claim.valid_to or claim.said_at
        began = claim.valid_from or over
        past = ((draft, None) for draft in self._past())
        for draft, bound in (*self._line(key).bounded(), *past):
            if draft.key != key or not draft.is_active:
                continue
            until = draft.lasts(bound)
            is_then = draft.begins < over and (until is None or began < until or over == until)
            if is_then or (draft.off and draft.begins == began):
                draft.back(claim)
                return
        self._draft(claim).off = "past"

    def _end(self, claim: Claim) -> None:
        """Ends what was so then; what is called off before it begins never comes to be so."""
        named = claim.valid_to or claim.valid_from
        key = None if claim.object is None else self._meant(name_key(claim.object))
        for line in self._named(key):
            draft = line.holding(named or claim.said_at, key=key) or line.active
            if draft is None or key not in {None, draft.key}:
                continue
            if draft.is_dated and named is not None and latest(named) < draft.begins:
                continue  # what ended then was not this
            if named is None and draft.begins > claim.said_at:
                draft.claims.append(claim.id)
                self._leave(draft, "corrected")
            else:
                draft.end(claim, at=named or claim.said_at)

    def _meant(self, key: str) -> str:
        """What "the move" or "the Volvo" means, where there is one such: "move to Antwerp", "red Volvo"."""
        active = {line.active.key for line in self._lines.values() if line.active}
        meant = [one for one in active if may_mean(key, one)]
        return meant[0] if key not in active and len(meant) == 1 else key

    def _retract(self, claim: Claim) -> None:
        """What is said never to have been so: the last period of an object, or what is believed.

        Where that is not sure, the fact stays, with less confidence.
        """
        key = None if claim.object is None else name_key(claim.object)
        for line in self._named(key):
            candidates = [line.active] if key is None else [*self._past(), *line.drafts]
            wrong = [one for one in candidates if one and one.is_active and key in {None, one.key}]
            if wrong and claim.confidence < _SURE:
                wrong[-1].doubt(claim)
            elif wrong:
                wrong[-1].claims.append(claim.id)
                self._leave(wrong[-1], "corrected")

    def _reactivate(self, claim: Claim) -> None:
        """Goes on with what had ended; what has been so since then never was."""
        key = name_key(claim.object or "")
        line = self._line(key)
        wanted = [draft for draft in self._drafts if draft.key == key and not draft.is_deleted]
        if not wanted:
            return
        if line.active in wanted:
            self._unfade(line.active, claim)
            return
        draft = wanted[-1]
        if draft in line.drafts:
            earlier = line.drafts[: line.drafts.index(draft)]
        else:
            earlier = [one for one in line.drafts if one.begins < draft.begins]
        for one in line.drafts:
            one.off = None if one in earlier or one is draft else "undone"
        for one in self._drafts:
            one.instead = None if one.instead is draft else one.instead
        if draft.is_ended or draft.is_superseded(claim):
            draft.ends, draft.is_ended = None, False
        draft.off, draft.is_faded, line.drafts = None, False, [*earlier, draft]
        draft.claims.append(claim.id)

    def _fade(self, claim: Claim) -> None:
        """Stops believing what is believed, without saying that it is not so."""
        key = name_key(claim.object or "")
        draft = self._line(key).active
        if draft is not None and draft.key == key:
            draft.is_faded = True
            draft.claims.append(claim.id)

    def _unfade(self, draft: FactDraft | None, claim: Claim) -> None:
        """Has what has faded believed again."""
        if draft is not None and draft.is_faded:
            draft.is_faded = False
            draft.claims.append(claim.id)

    def _delete(self, claim: Claim) -> None:
        """Deletes all periods of an object; what has not begun by then leaves its line."""
        for draft in self._drafts:
            if claim.object is not None and draft.key != name_key(claim.object):
                continue
            line = self._line(draft.key)
            draft.is_last = draft.is_last or line.drafts[-1:] == [draft]
            draft.is_deleted = True
            draft.claims.append(claim.id)
            if draft.begins > claim.said_at:
                line.remove(draft)

    def _draft(self, claim: Claim) -> FactDraft:
        key = name_key(claim.object or "")
        times = sum(draft.key == key for draft in self._drafts)
        parts = (self._owner, name_key(claim.subject), claim.predicate, key, times)
        draft = FactDraft(id=make_id(*parts), key=key, first=claim, begins=_began(claim))
        draft.back(claim)
        self._drafts.append(draft)
        return draft

    def _leave(self, draft: FactDraft, off: Literal["corrected", "undone"]) -> None:
        self._line(draft.key).remove(draft)
        draft.off = off

    def _line(self, key: str) -> FactTimeline:
        return self._lines["" if self._is_single else key]

    def _named(self, key: str | None) -> list[FactTimeline]:
        """The lines that a claim about an object is about, or about whatever there is."""
        return list(self._lines.values()) if key is None else [self._line(key)]

    def _past(self) -> list[FactDraft]:
        return [draft for draft in self._drafts if draft.off == "past"]
