"""What recurs, how often things change, and what to expect then."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from mnestic.memory.knowledge.claims import Cardinality, Claim, ClaimSource
from mnestic.memory.knowledge.facts import Fact
from mnestic.memory.knowledge.predicates import Predicate
from mnestic.memory.knowledge.resolution import resolve
from mnestic.memory.knowledge.world.patterns import Pattern, Prediction, patterns_of, predict

MONDAY = datetime(2026, 3, 2, 18, tzinfo=UTC)


def day(number: float) -> datetime:
    return MONDAY + timedelta(days=number)


def claim(said: float, value: str = "yoga", kind: str = "affirmed", **fields: Any) -> Claim:
    values = {
        "id": f"{said}/{value}/{kind}",
        "kind": kind,
        "subject": "Mara",
        "predicate": "attended",
        "object": value,
        "said_at": day(said),
        "source": ClaimSource(extractor="test"),
    }
    return Claim.model_validate(values | fields)


def facts_of(claims: Iterable[Claim], cardinality: Cardinality = "multi") -> tuple[Fact, ...]:
    predicate = Predicate(name="attended", cardinality=cardinality)
    return resolve(claims, owner="o", predicate=predicate)


def found(*claims: Claim, cardinality: Cardinality = "multi") -> tuple[Pattern, ...]:
    by_id = {claim.id: claim for claim in claims}
    return patterns_of(facts_of(claims, cardinality), by_id)


def expected(*claims: Claim, now: float, cardinality: Cardinality = "multi") -> Prediction | None:
    (pattern,) = found(*claims, cardinality=cardinality)
    return predict(pattern, facts_of(claims, cardinality), now=day(now))


def test_what_is_said_of_regular_days_recurs() -> None:
    claims = [claim(0), claim(7), claim(7.1), claim(14), claim(22)]

    (pattern,) = found(*claims)

    assert (pattern.kind, pattern.predicate, pattern.object) == ("recurring", "attended", "yoga")
    assert (pattern.intervals, pattern.regular) == (3, 3)
    assert (pattern.interval_days, pattern.spread_days) == (7, 0.3333)
    assert pattern.support == tuple(claims[place].id for place in (0, 1, 3, 4))
    assert (pattern.first, pattern.last) == (day(0), day(22))


def test_what_has_no_rhythm_or_never_was_does_not_recur() -> None:
    for days in ((0, 7), (0, 0.1, 0.2), (0, 7, 30), (0, 1, 10, 12, 40), (0, 7, 14, 50, 90)):
        assert found(*map(claim, days)) == (), days
    for kind in ("deleted", "retracted"):
        assert found(claim(0), claim(7), claim(14), claim(15, kind=kind)) == ()


def test_one_that_was_missed_does_not_end_a_rhythm() -> None:
    (pattern,) = found(*(claim(number) for number in (0, 7, 14, 28, 35)))

    assert (pattern.intervals, pattern.regular, pattern.interval_days) == (4, 3, 7)


def test_the_day_it_was_counts_and_not_the_day_on_which_it_was_told() -> None:
    told_late = [
        claim(30 + number, valid_from=day(7 * number), valid_to=day(7 * number + 1))
        for number in range(3)
    ]
    one_beginning = [claim(7 * number, valid_from=day(0)) for number in range(4)]

    assert [pattern.interval_days for pattern in found(*told_late)] == [7]
    assert found(*one_beginning) == ()


def test_the_next_time_is_expected_with_a_confidence_that_follows_from_how_often_it_held() -> None:
    three = expected(*(claim(7 * n) for n in range(3)), now=15)
    ten = expected(*(claim(7 * n) for n in range(10)), now=64)

    assert three is not None
    assert ten is not None
    assert three.expected_at == day(21)
    assert (three.earliest, three.latest) == (day(19.25), day(22.75))
    assert three.support == tuple(claim(7 * n).id for n in range(3))
    assert (three.confidence, ten.confidence) == (0.6667, 0.9)


def test_what_did_not_come_is_less_expected_and_in_the_end_not_at_all() -> None:
    claims = [claim(7 * n) for n in range(4)]

    told = [expected(*claims, now=now) for now in (22, 22.8 + 7, 22.8 + 14, 22.8 + 28)]

    *some, none = told
    assert [one and one.confidence for one in some] == [0.75, 0.6, 0.5]
    assert [one and one.expected_at for one in some] == [day(28), day(35), day(42)]
    assert none is None


def test_what_is_said_to_be_over_is_not_expected() -> None:
    claims = [claim(0), claim(7), claim(14), claim(15, kind="ended")]

    assert expected(*claims, now=16) is None


def test_how_long_it_stays_as_it_is_follows_from_its_changes() -> None:
    claims = [claim(30 * number, f"city {number}") for number in range(4)]

    (pattern,) = found(*claims, cardinality="single")
    change = expected(*claims, now=100, cardinality="single")
    late = expected(*claims, now=130, cardinality="single")

    facts = facts_of(claims, "single")
    assert (pattern.kind, pattern.object, pattern.intervals) == ("changing", None, 3)
    assert (pattern.interval_days, pattern.spread_days) == (30, 0)
    assert pattern.support == tuple(fact.id for fact in facts[:-1])
    assert change is not None
    assert (change.object, change.expected_at, change.confidence) == (None, day(120), 0.75)
    assert late is None


def test_one_change_is_no_pattern_and_changes_without_a_rhythm_predict_nothing() -> None:
    once = [claim(0, "a"), claim(30, "b")]
    irregular = [claim(0, "a"), claim(3, "b"), claim(400, "c")]

    assert found(*once, cardinality="single") == ()
    assert [pattern.interval_days for pattern in found(*irregular, cardinality="single")] == [200]
    assert expected(*irregular, now=401, cardinality="single") is None


CLAIMS = st.builds(
    claim,
    st.integers(0, 40),
    st.sampled_from(["a", "b"]),
    st.sampled_from(["affirmed", "affirmed", "affirmed", "ended", "corrected"]),
)


@given(st.lists(CLAIMS, max_size=15), st.randoms(), st.sampled_from(["single", "multi"]))
def test_neither_order_nor_repetition_changes_a_pattern(
    claims: list[Claim], random: Any, cardinality: Cardinality
) -> None:
    mixed = [*claims, *claims[:4]]
    random.shuffle(mixed)

    assert found(*mixed, cardinality=cardinality) == found(*claims, cardinality=cardinality)


@given(st.lists(CLAIMS, max_size=15), st.sampled_from(["single", "multi"]), st.integers(0, 200))
def test_a_prediction_is_of_what_is_to_come_and_names_its_support(
    claims: list[Claim], cardinality: Cardinality, now: int
) -> None:
    facts = facts_of(claims, cardinality)
    known = {claim.id for claim in claims} | {fact.id for fact in facts}

    for pattern in found(*claims, cardinality=cardinality):
        told = predict(pattern, facts, now=day(now))
        assert set(pattern.support) <= known
        assert len(pattern.support) >= pattern.intervals >= pattern.regular
        if told is not None:
            assert 0 < told.confidence < 1
            assert told.earliest < told.expected_at < told.latest
            assert told.latest >= day(now)
