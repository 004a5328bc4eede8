"""What is so of facts whatever was claimed, in whatever order it came."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from mnestic.memory.knowledge.claims import (
    Cardinality,
    Claim,
    ClaimKind,
    ClaimSource,
    Span,
    name_key,
)
from mnestic.memory.knowledge.facts import Fact
from mnestic.memory.knowledge.resolution import resolve
from tests.memory.knowledge.fact_claims import PREDICATES, claim, day

LASTING: tuple[ClaimKind, ...] = ("affirmed", "affirmed", "affirmed", "corrected", "reactivated")
KINDS: tuple[ClaimKind, ...] = (*LASTING, "affirmed", "ended", "retracted", "deleted", "faded")
LONG_AGO, NEAR = st.integers(-900, -300), st.integers(-3, 12)
NUMBERS = st.integers(0, 2)


@st.composite
def claims_of(draw: Any, kinds: tuple[ClaimKind, ...]) -> Claim:
    """A claim of any of these kinds, dated or not; none has an end if none of the kinds is one."""
    kind, said, number = draw(st.sampled_from(kinds)), draw(st.integers(0, 8)), draw(NUMBERS)
    times = {"valid_from": None, "valid_to": None}
    if kind in {"affirmed", "corrected", "ended"}:
        begin = draw(st.none() | LONG_AGO | NEAR)
        end = draw(st.none() | LONG_AGO | NEAR) if "ended" in kinds else None
        if begin is not None and end is not None:
            end = max(begin, end)
        times = {"valid_from": begin, "valid_to": end}
    corrects = draw(st.none() | st.integers(0, 8)) if kind == "corrected" else None
    value = draw(st.sampled_from("abc"))
    if kind in {"ended", "retracted"} and draw(st.booleans()):
        value = None
    source = ClaimSource(
        extractor="test",
        session_id="s",
        source_id=f"m{said}",
        corrects=None if corrects is None else f"m{corrects}",
        span=Span(start=number, end=number + 1),
    )
    moments = {name: None if at is None else day(at) for name, at in times.items()}
    name = "/".join(map(str, (said, number, kind, value, *times.values(), corrects)))
    return claim(said, value, kind, number=number, id=name, source=source, **moments)


CLAIMS = st.lists(claims_of(KINDS), max_size=10)
CARDINALITIES = st.sampled_from(["single", "multi"])


def facts_of(claims: Sequence[Claim], cardinality: Cardinality = "single") -> tuple[Fact, ...]:
    return resolve(claims, owner="o", predicate=PREDICATES[cardinality])


def lines_of(facts: Sequence[Fact], cardinality: Cardinality) -> list[list[Fact]]:
    """The facts that cannot be so at the same time, those together."""
    lines: dict[str, list[Fact]] = defaultdict(list)
    for fact in facts:
        lines["" if cardinality == "single" else name_key(fact.object)].append(fact)
    return list(lines.values())


def held(line: Sequence[Fact]) -> list[Fact]:
    """What was so at some time, the earliest first."""
    so = [one for one in line if one.status != "deleted" and one.valid_to != one.valid_from]
    return sorted(so, key=lambda fact: fact.valid_from)


@given(CLAIMS, CARDINALITIES)
def test_no_two_are_ever_so_at_once_whatever_has_been_delivered_by_then(
    claims: list[Claim], cardinality: Cardinality
) -> None:
    for number in range(len(claims) + 1):
        for line in lines_of(facts_of(claims[:number], cardinality), cardinality):
            assert sum(fact.status == "active" for fact in line) <= 1
            assert all(
                one.valid_to is not None and one.valid_to <= next_.valid_from
                for one, next_ in pairwise(held(line))
            )


@given(CLAIMS, CARDINALITIES)
def test_only_what_somebody_ended_or_deleted_leaves_a_time_without_any(
    claims: list[Claim], cardinality: Cardinality
) -> None:
    facts = facts_of(claims, cardinality)
    ends = {one.valid_to for one in claims} | {one.begins for one in claims if one.kind == "ended"}
    never = {fact.valid_from for fact in facts if fact.end == "ended"}  # ended before it began

    for line in lines_of(facts, cardinality):
        if all(fact.status != "deleted" for fact in line):
            begins = {fact.valid_from for fact in held(line)}
            over = {fact.valid_to for fact in held(line)} - {None}
            assert over - begins <= ends | never


@given(st.lists(claims_of(LASTING), max_size=10))
def test_what_nobody_ended_is_so_without_a_gap_and_the_last_of_it_active(
    claims: list[Claim],
) -> None:
    facts = facts_of(claims)

    is_told = any(one.kind != "reactivated" for one in claims)
    assert all(one.valid_to == next_.valid_from for one, next_ in pairwise(held(facts)))
    assert [fact.status for fact in held(facts)[-1:]] == ["active"] * is_told
    assert sum(fact.status == "active" for fact in facts) == is_told
    assert all(fact.valid_to is None for fact in held(facts)[-1:])


@given(CLAIMS, st.randoms(), CARDINALITIES)
def test_neither_order_nor_repetition_changes_what_is_believed(
    claims: list[Claim], random: Any, cardinality: Cardinality
) -> None:
    again = [*claims, *random.choices(claims, k=len(claims))] if claims else []
    random.shuffle(again)

    assert facts_of(again, cardinality) == facts_of(claims, cardinality)


@given(CLAIMS, CARDINALITIES)
def test_the_chain_of_what_made_way_reads_both_ways(
    claims: list[Claim], cardinality: Cardinality
) -> None:
    facts = facts_of(claims, cardinality)
    of_another = resolve(claims, owner="a", predicate=PREDICATES[cardinality])
    by_id = {fact.id: fact for fact in facts}

    assert len(by_id) == len(facts)
    assert by_id.keys().isdisjoint(fact.id for fact in of_another)
    for fact in facts:
        assert fact.valid_to is None or fact.valid_to >= fact.valid_from
        assert (fact.end == "superseded") <= (fact.superseded_by is not None)
        assert (fact.status == "active") <= (fact.superseded_by is None)
        assert fact.superseded_by is None or by_id[fact.superseded_by].supersedes == fact.id
        assert fact.supersedes is None or by_id[fact.supersedes].superseded_by == fact.id
        chain = [fact]
        while chain[-1].superseded_by:
            chain.append(by_id[chain[-1].superseded_by])
            assert len(chain) <= len(facts)


@given(CLAIMS, CARDINALITIES, st.sampled_from("abc"))
def test_what_was_said_before_a_deletion_never_comes_back(
    claims: list[Claim], cardinality: Cardinality, value: str
) -> None:
    deletion = claim(9, value, "deleted")
    decided = claim(10, value, "reactivated")

    facts = facts_of([decided, deletion, *claims], cardinality)

    assert {fact.status for fact in facts if fact.object == value} <= {"deleted"}
