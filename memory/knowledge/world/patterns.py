"""Patterns: what recurs and how often things change, found in what was claimed, and what to expect then.

It is pure and only counts: it calls no model, and each pattern names the claims or facts that support it.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from statistics import fmean, median
from typing import Any, Literal

from pydantic import AwareDatetime, ConfigDict

from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.knowledge.claims import Claim, make_id, name_key
from mnestic.memory.knowledge.facts import Fact

PatternKind = Literal["recurring", "changing"]
FEWEST_CLAIMS = 3  # that a pattern can have
_FEWEST = FEWEST_CLAIMS - 1  # intervals; fewer have no length in common
_TOLERANCE = 0.25  # of an interval: what is no further from the median is regular
_REGULAR = 0.75  # of the intervals of what recurs
_NEVER_WAS = frozenset({"corrected", "undone", "deleted"})
_DAY = timedelta(days=1)


class Pattern(DeferredModel):
    """That the same is claimed of one day after another, or a fact changes, and at which intervals.

    `interval_days` is the median, `spread_days` the mean distance from it, and `regular` counts the
    intervals that are no further from it than a quarter. `support` names claims of what recurs, a
    day each, and facts of what changes.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str
    kind: PatternKind
    subject: str
    predicate: str
    object: str | None = None
    intervals: int
    regular: int
    interval_days: float
    spread_days: float
    first: AwareDatetime
    last: AwareDatetime
    support: tuple[str, ...]


class Prediction(DeferredModel):
    """What is to be expected, if a pattern goes on: with `confidence`, between `earliest` and `latest`.

    Without an object the fact of `predicate` is expected to change. The confidence is the rule of
    succession, with one interval spent on finding the length: `regular / (intervals + missed + 1)`,
    where `missed` counts the expected times since then for which no message came.

    Source: Laplace, Essai philosophique sur les probabilités (1814), the rule of succession.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    pattern: str
    subject: str
    predicate: str
    object: str | None = None
    expected_at: AwareDatetime
    earliest: AwareDatetime
    latest: AwareDatetime
    confidence: float
    support: tuple[str, ...]


def patterns_of(facts: Sequence[Fact], claims: Mapping[str, Claim]) -> tuple[Pattern, ...]:
    """The patterns of one topic: of a predicate with one object its changes, of others what recurs.

    Args:
        facts: All facts about the subject and the predicate.
        claims: Those that they follow from, by id.
    """
    was = [fact for fact in facts if fact.end not in _NEVER_WAS]
    if not was:
        return ()
    if was[0].cardinality == "single":
        return tuple(_changing(was))
    by_object: dict[str, list[Fact]] = defaultdict(list)
    for fact in was:
        by_object[name_key(fact.object)].append(fact)
    return tuple(
        pattern
        for key in sorted(by_object)
        for pattern in _recurring(by_object[key], claims, key=key)
    )


def predict(pattern: Pattern, facts: Sequence[Fact], *, now: datetime) -> Prediction | None:
    """What is to be expected next; None when the pattern, or what it is about, is over.

    Args:
        pattern: One of this topic.
        facts: All facts about the subject and the predicate.
        now: What is to come comes after it.
    """
    interval = timedelta(days=pattern.interval_days)
    tolerance = interval * _TOLERANCE
    if pattern.kind == "changing":
        since = [fact.valid_from for fact in facts if fact.status == "active"]
        if not since or pattern.regular < _REGULAR * pattern.intervals:
            return None
        begin, missed = since[0], 0
        if now > begin + interval + tolerance:  # it has never been so for so long
            return None
    else:
        begin = pattern.last
        missed = max(0, (now - begin - tolerance) // interval)
        if missed > pattern.regular or _is_over(pattern, facts):
            return None
    expected = begin + interval * (missed + 1)
    return Prediction(
        pattern=pattern.id,
        subject=pattern.subject,
        predicate=pattern.predicate,
        object=pattern.object,
        expected_at=expected,
        earliest=expected - tolerance,
        latest=expected + tolerance,
        confidence=round(pattern.regular / (pattern.intervals + missed + 1), 4),
        support=pattern.support,
    )


def _recurring(
    facts: Sequence[Fact], claims: Mapping[str, Claim], *, key: str
) -> Iterator[Pattern]:
    """That the same was claimed of several days, if their intervals are regular."""
    dated = [claims[claim] for fact in facts for claim in fact.claims if claim in claims]
    days: dict[date, Claim] = {}
    for claim in sorted(dated, key=lambda claim: (claim.begins, claim.id)):
        if claim.kind in {"affirmed", "corrected"}:
            days.setdefault(claim.begins.astimezone(UTC).date(), claim)
    found = _Lengths(float((late - early).days) for early, late in pairwise(days))
    if len(found.days) >= _FEWEST and found.regular >= _REGULAR * len(found.days):
        first_claims = tuple(days.values())
        yield found.pattern(
            "recurring",
            facts[0],
            object_key=key,
            first=first_claims[0].begins,
            last=first_claims[-1].begins,
            support=tuple(claim.id for claim in first_claims),
        )


def _changing(facts: Sequence[Fact]) -> Iterator[Pattern]:
    """How long what was superseded had been so."""
    over = [
        (fact.valid_to - fact.valid_from, fact.valid_to, fact.id)
        for fact in sorted(facts, key=lambda fact: (fact.valid_from, fact.id))
        if fact.end == "superseded" and fact.valid_to and fact.valid_to > fact.valid_from
    ]
    found = _Lengths(length / _DAY for length, _, _ in over)
    if len(found.days) >= _FEWEST:
        yield found.pattern(
            "changing",
            facts[0],
            object_key=None,
            first=over[0][1],
            last=over[-1][1],
            support=tuple(fact_id for _, _, fact_id in over),
        )


class _Lengths:
    """Intervals, in days, and how alike they are."""

    def __init__(self, days: Iterable[float]) -> None:
        self.days = tuple(days)
        self._median = median(self.days) if self.days else 0.0
        self._away = [abs(length - self._median) for length in self.days]

    @property
    def regular(self) -> int:
        """How many are no further from the median than the tolerance."""
        return sum(away <= _TOLERANCE * self._median for away in self._away)

    def pattern(
        self, kind: PatternKind, of: Fact, *, object_key: str | None, **first_claims: Any
    ) -> Pattern:
        """The pattern that these intervals make."""
        return Pattern(
            id=make_id("pattern", kind, name_key(of.subject), of.predicate, object_key),
            kind=kind,
            subject=of.subject,
            predicate=of.predicate,
            object=None if object_key is None else of.object,
            intervals=len(self.days),
            regular=self.regular,
            interval_days=round(self._median, 4),
            spread_days=round(fmean(self._away), 4),
            **first_claims,
        )


def _is_over(pattern: Pattern, facts: Sequence[Fact]) -> bool:
    """Whether what recurred was said to be over."""
    key = name_key(pattern.object or "")
    same = [fact for fact in facts if name_key(fact.object) == key and fact.end not in _NEVER_WAS]
    return not same or max(same, key=lambda fact: (fact.valid_from, fact.id)).end == "ended"
