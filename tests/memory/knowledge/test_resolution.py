"""What is believed, given what was claimed."""

from datetime import timedelta
from typing import Any, get_args

import pytest

from mnestic.memory.knowledge.claims import Cardinality, Claim, name_key
from mnestic.memory.knowledge.resolution import resolve
from tests.memory.knowledge.fact_claims import NOON, PREDICATES, claim, day
from tests.memory.tables import tables

CASES = tables(__file__)


def claim_of(said: float, value: str | None, kind: str = "affirmed", days: Any = None) -> Claim:
    fields = {name: at if name == "number" else day(at) for name, at in (days or {}).items()}
    return claim(said, value, kind, **fields)


def facts_of(claims: list[Any], cardinality: Cardinality) -> list[list[Any]]:
    """Object, status, end, and the day on which it ended."""
    read = [claim_of(*each) for each in claims]
    return [
        [
            fact.object,
            fact.status,
            fact.end,
            fact.valid_to and (fact.valid_to - NOON) / timedelta(days=1),
        ]
        for fact in resolve(read, owner="o", predicate=PREDICATES[cardinality])
    ]


@pytest.mark.parametrize("cardinality", get_args(Cardinality))
def test_what_is_believed_follows_from_what_was_claimed(cardinality: Cardinality) -> None:
    cases = CASES[cardinality]
    found = {name: facts_of(case["claims"], cardinality) for name, case in cases.items()}
    again = {
        name: facts_of([*reversed(case["claims"]), *case["claims"]], cardinality)
        for name, case in cases.items()
    }

    assert found == again == {name: case["facts"] for name, case in cases.items()}


def test_each_claim_that_says_the_same_raises_the_confidence_up_to_a_limit() -> None:
    claims = [claim(number, "Ghent", confidence=0.6) for number in range(9)]

    once, twice, often = (
        resolve(claims[:times], owner="o", predicate=PREDICATES["single"])[0] for times in (1, 2, 9)
    )

    assert (once.confidence, twice.confidence, often.confidence) == (0.6, 0.84, 0.99)
    assert len(often.claims) == 9


def test_what_was_so_at_a_moment() -> None:
    claims = [claim(1, "Utrecht"), claim(5, "Ghent")]

    facts = resolve(claims, owner="o", predicate=PREDICATES["single"])

    places = {0: [], 1: ["Utrecht"], 4.9: ["Utrecht"], 5: ["Ghent"], 99: ["Ghent"]}
    assert {at: [f.object for f in facts if f.is_valid_at(day(at))] for at in places} == places


@pytest.mark.parametrize(
    ("one", "other"),
    [("Ghent", " ghent. "), ("a data analyst", "Data  analyst"), ("Malmö", "Malmo\u0308")],
)
def test_spellings_of_one_name_are_the_same(one: str, other: str) -> None:
    assert name_key(one) == name_key(other)
