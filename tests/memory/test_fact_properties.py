"""What is so of facts whatever was claimed."""

from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from mnestic.memory.claims import Cardinality, Claim, name_key
from mnestic.memory.facts import resolve
from tests.memory.fact_claims import PREDICATES, claim, day

CLAIMS = st.builds(
    claim,
    st.integers(0, 5),
    st.sampled_from(["a", "b", "c"]),
    st.sampled_from(["affirmed", "corrected", "ended", "retracted", "reactivated", "deleted"]),
    number=st.integers(0, 2),
)

UNENDED = st.builds(
    claim,
    st.integers(0, 5),
    st.sampled_from(["a", "b", "c"]),
    st.sampled_from(["affirmed", "corrected", "reactivated"]),
    number=st.integers(0, 2),
)

SAID = st.builds(
    claim,
    st.integers(0, 5),
    st.sampled_from(["a", "b", "c"]),
    st.sampled_from(["affirmed", "corrected"]),
    number=st.integers(0, 2),
)

DATED = st.builds(
    claim,
    st.integers(0, 5),
    st.sampled_from(["a", "b", "c"]),
    st.just("affirmed"),
    number=st.integers(0, 2),
    valid_from=st.one_of(st.none(), st.integers(-2000, 4).map(day)),
)


@given(st.lists(DATED, max_size=8))
def test_days_that_are_named_leave_one_object_at_a_time(claims: list[Claim]) -> None:
    facts = resolve(claims, owner="o", predicate=PREDICATES["single"])

    held = sorted(
        (fact for fact in facts if fact.valid_to != fact.valid_from),
        key=lambda fact: fact.valid_from,
    )
    assert sum(fact.status == "active" for fact in facts) == bool(facts)
    assert all(
        one.valid_to is not None and one.valid_to <= next_.valid_from
        for one, next_ in pairwise(held)
    )


@given(st.lists(CLAIMS, max_size=12))
def test_a_predicate_with_one_object_never_has_two_at_a_time(claims: list[Claim]) -> None:
    facts = resolve(claims, owner="o", predicate=PREDICATES["single"])

    held = sorted(
        (f for f in facts if f.status != "deleted" and f.valid_to != f.valid_from),
        key=lambda fact: fact.valid_from,
    )
    assert all(
        one.valid_to is not None and one.valid_to <= next_.valid_from
        for one, next_ in pairwise(held)
    )


@given(st.one_of(st.lists(UNENDED, max_size=12), st.lists(st.one_of(DATED, SAID), max_size=12)))
def test_what_nobody_ended_leaves_no_time_without_an_object(claims: list[Claim]) -> None:
    facts = resolve(claims, owner="o", predicate=PREDICATES["single"])

    held = sorted(
        (fact for fact in facts if fact.valid_to != fact.valid_from),
        key=lambda fact: fact.valid_from,
    )
    assert all(one.valid_to == next_.valid_from for one, next_ in pairwise(held))
    assert all(fact.valid_to is None for fact in held[-1:])


@given(st.lists(CLAIMS, max_size=12), st.randoms(), st.sampled_from(["single", "multi"]))
def test_neither_order_nor_repetition_changes_what_is_believed(
    claims: list[Claim], random: Any, cardinality: Cardinality
) -> None:
    again = [*claims, *random.choices(claims, k=len(claims))] if claims else []
    random.shuffle(again)

    first, second = (
        resolve(given, owner="o", predicate=PREDICATES[cardinality]) for given in (claims, again)
    )

    assert first == second


@given(st.lists(CLAIMS, max_size=12), st.sampled_from(["single", "multi"]))
def test_facts_never_contradict_each_other(claims: list[Claim], cardinality: Cardinality) -> None:
    facts = resolve(claims, owner="o", predicate=PREDICATES[cardinality])
    by_id = {fact.id: fact for fact in facts}

    assert len(by_id) == len(facts)
    active = [name_key(fact.object) for fact in facts if fact.status == "active"]
    assert len(set(active)) == len(active)
    assert cardinality == "multi" or len(active) <= 1
    for fact in facts:
        assert fact.valid_to is None or fact.valid_to >= fact.valid_from
        assert fact.superseded_by is None or by_id[fact.superseded_by].supersedes == fact.id
        assert fact.supersedes is None or by_id[fact.supersedes].superseded_by == fact.id
