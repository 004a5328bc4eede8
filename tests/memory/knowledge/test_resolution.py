"""What is believed, given what was claimed."""

from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import pytest

from mnestic.memory.knowledge.claims import Claim, name_key
from mnestic.memory.knowledge.facts import Fact
from mnestic.memory.knowledge.resolution import resolve
from tests.memory.knowledge.fact_claims import NOON, PREDICATES, claim, day, told

CASES = {
    "a day that was before what began later": (
        [
            claim(1, "Ghent", valid_from=day(-800)),
            claim(2, "Lima", valid_from=day(-1600)),
        ],
        [("Ghent", "active", None, None), ("Lima", "archived", "superseded", -800)],
    ),
    "a day in between": (
        [
            claim(1, "Lima", valid_from=day(-1600)),
            claim(2, "Ghent", valid_from=day(-200)),
            claim(3, "Oslo", valid_from=day(-800)),
        ],
        [
            ("Lima", "archived", "superseded", -800),
            ("Ghent", "active", None, None),
            ("Oslo", "archived", "superseded", -200),
        ],
    ),
    "a day before what is over by now": (
        [
            claim(1, "Ghent", valid_from=day(-800)),
            claim(2, None, "ended"),
            claim(3, "Lima", valid_from=day(-1600)),
        ],
        [("Ghent", "archived", "ended", 2), ("Lima", "archived", "superseded", -800)],
    ),
    "a day before what nobody dated": (
        [claim(1, "Utrecht"), claim(2, "Ghent", valid_from=day(-100))],
        [("Utrecht", "archived", "superseded", 1), ("Ghent", "active", None, None)],
    ),
    "a year that may be after a day of it": (
        [
            claim(1, "Utrecht", valid_from=datetime(2025, 3, 9, tzinfo=UTC)),
            claim(2, "Ghent", valid_from=datetime(2025, 1, 1, tzinfo=UTC)),
        ],
        [
            (
                "Utrecht",
                "archived",
                "superseded",
                (datetime(2025, 3, 9, tzinfo=UTC) - NOON).days + 0.5,
            ),
            ("Ghent", "active", None, None),
        ],
    ),
    "the same, since earlier than the one before was over": (
        [claim(1, "Utrecht"), claim(9, "Ghent"), claim(12, "Ghent", valid_from=day(5))],
        [("Utrecht", "archived", "superseded", 5), ("Ghent", "active", None, None)],
    ),
    "an end before it began is another's": (
        [claim(1, "Ghent", valid_from=day(-100)), claim(2, "Ghent", "ended", valid_to=day(-900))],
        [("Ghent", "active", None, None)],
    ),
    "until a day since it was said": (
        [claim(1, "Ghent"), claim(20, "Ghent", valid_to=day(9))],
        [("Ghent", "archived", "ended", 9)],
    ),
    "another time, long over": (
        [claim(1, "Ghent"), claim(2, "Ghent", valid_from=day(-900), valid_to=day(-800))],
        [("Ghent", "active", None, None), ("Ghent", "archived", "past", -800)],
    ),
    "said once": ([claim(1, "Ghent")], [("Ghent", "active", None, None)]),
    "said twice in other words": (
        [claim(1, "the harbour"), claim(2, "Harbour.")],
        [("the harbour", "active", None, None)],
    ),
    "superseded": (
        [claim(1, "Utrecht"), claim(5, "Ghent")],
        [("Utrecht", "archived", "superseded", 5), ("Ghent", "active", None, None)],
    ),
    "superseded as of the day that was named": (
        [claim(1, "Utrecht"), claim(5, "Ghent", valid_from=day(3))],
        [("Utrecht", "archived", "superseded", 3), ("Ghent", "active", None, None)],
    ),
    "changed back": (
        [claim(1, "Utrecht"), claim(2, "Ghent"), claim(3, "Utrecht")],
        [
            ("Utrecht", "archived", "superseded", 2),
            ("Ghent", "archived", "superseded", 3),
            ("Utrecht", "active", None, None),
        ],
    ),
    "corrected: it never was": (
        [claim(1, "Genk"), claim(2, "Ghent", "corrected")],
        [("Genk", "archived", "corrected", 1), ("Ghent", "active", None, None)],
    ),
    "retracted without another": (
        [claim(1, "Genk"), claim(2, "Genk", "retracted")],
        [("Genk", "archived", "corrected", 1)],
    ),
    "ended without a successor": (
        [claim(1, "Ghent"), claim(4, None, "ended")],
        [("Ghent", "archived", "ended", 4)],
    ),
    "another one ended": (
        [claim(1, "Ghent"), claim(4, "Utrecht", "ended")],
        [("Ghent", "active", None, None)],
    ),
    "ended before it was ever said": ([claim(1, None, "ended")], []),
    "said to be over": (
        [claim(1, "Ghent"), claim(2, "Utrecht", valid_from=day(-9), valid_to=day(-2))],
        [("Ghent", "active", None, None), ("Utrecht", "archived", "past", -2)],
    ),
    "said to end later": (
        [claim(1, "Porto", valid_to=day(30))],
        [("Porto", "active", None, 30)],
    ),
    "superseded before its end": (
        [claim(1, "Porto", valid_to=day(30)), claim(9, "Ghent")],
        [("Porto", "archived", "superseded", 9), ("Ghent", "active", None, None)],
    ),
    "reactivated": (
        [claim(1, "Utrecht"), claim(2, "Ghent"), claim(3, "Utrecht", "reactivated")],
        [("Utrecht", "active", None, None), ("Ghent", "archived", "undone", 2)],
    ),
    "reactivated: all that came after it is undone": (
        [
            claim(1, "Utrecht"),
            claim(2, "Ghent"),
            claim(3, "Malmö"),
            claim(4, "Utrecht", "reactivated"),
        ],
        [
            ("Utrecht", "active", None, None),
            ("Ghent", "archived", "undone", 2),
            ("Malmö", "archived", "undone", 3),
        ],
    ),
    "reactivated: what was so since its end is undone": (
        [
            claim(1, "Utrecht"),
            claim(2, None, "ended"),
            claim(3, "Ghent"),
            claim(4, None, "ended"),
            claim(5, "Utrecht", "reactivated"),
        ],
        [("Utrecht", "active", None, None), ("Ghent", "archived", "undone", 3)],
    ),
    "a reactivation that is undone by another": (
        [
            claim(1, "Utrecht"),
            claim(2, "Ghent"),
            claim(3, "Utrecht", "reactivated"),
            claim(4, "Ghent", "reactivated"),
        ],
        [("Utrecht", "archived", "superseded", 2), ("Ghent", "active", None, None)],
    ),
    "reactivated, then superseded by another": (
        [
            claim(1, "Utrecht"),
            claim(2, "Ghent"),
            claim(3, "Utrecht", "reactivated"),
            claim(5, "Malmö"),
        ],
        [
            ("Utrecht", "archived", "superseded", 5),
            ("Ghent", "archived", "undone", 2),
            ("Malmö", "active", None, None),
        ],
    ),
    "reactivated what was undone: what came before it is so until then": (
        [
            claim(0, "Utrecht"),
            claim(1, "Ghent"),
            claim(2, "Malmö"),
            claim(3, "Ghent", "reactivated"),
            claim(4, "Utrecht"),
            claim(5, "Malmö", "reactivated"),
        ],
        [
            ("Utrecht", "archived", "superseded", 1),
            ("Ghent", "archived", "superseded", 2),
            ("Malmö", "active", None, None),
            ("Utrecht", "archived", "undone", 4),
        ],
    ),
    "reactivated after an end": (
        [claim(1, "Ghent"), claim(2, None, "ended"), claim(3, "Ghent", "reactivated")],
        [("Ghent", "active", None, None)],
    ),
    "reactivated beside what was so before it": (
        [
            claim(0, "Utrecht"),
            claim(1, "Ghent"),
            claim(1, "Utrecht", number=1, valid_from=day(0)),
            claim(1, "Ghent", "reactivated", number=2),
        ],
        [
            ("Utrecht", "archived", "superseded", 1),
            ("Ghent", "active", None, None),
            ("Utrecht", "archived", "undone", 0),
        ],
    ),
    "reactivated with an end that is still to come": (
        [claim(1, "Porto", valid_to=day(30)), claim(2, "Ghent"), claim(3, "Porto", "reactivated")],
        [("Porto", "active", None, 30), ("Ghent", "archived", "undone", 2)],
    ),
    "since before the end of what is over": (
        [claim(1, "Ghent"), claim(9, None, "ended"), claim(12, "Oslo", valid_from=day(5))],
        [("Ghent", "archived", "superseded", 5), ("Oslo", "active", None, None)],
    ),
    "the same again after its end": (
        [claim(1, "Porto", valid_to=day(30)), claim(40, "Porto")],
        [("Porto", "archived", "superseded", 30), ("Porto", "active", None, None)],
    ),
    "the same again before its end": (
        [claim(1, "Porto"), claim(2, "Porto", "ended", valid_to=day(30)), claim(9, "Porto")],
        [("Porto", "archived", "ended", 30)],
    ),
    "retracted: what was before it goes on": (
        [claim(1, "Utrecht"), claim(2, "Genk"), claim(3, "Genk", "retracted")],
        [("Utrecht", "active", None, None), ("Genk", "archived", "corrected", 2)],
    ),
    "retracted after it made way": (
        [claim(1, "Utrecht"), claim(2, "Genk"), claim(3, "Ghent"), claim(4, "Genk", "retracted")],
        [
            ("Utrecht", "archived", "superseded", 3),
            ("Genk", "archived", "corrected", 2),
            ("Ghent", "active", None, None),
        ],
    ),
    "past, and so in part": (
        [
            claim(1, "Ghent", valid_from=day(-500)),
            claim(2, "Utrecht", valid_from=day(-900), valid_to=day(-400)),
        ],
        [("Ghent", "active", None, None), ("Utrecht", "archived", "past", -500)],
    ),
    "past, and told twice": (
        [
            claim(1, "Utrecht", valid_from=day(-900), valid_to=day(-400)),
            claim(2, "Utrecht", valid_from=day(-900), valid_to=day(-300)),
        ],
        [("Utrecht", "archived", "past", -300)],
    ),
    "planned": (
        [claim(1, "Ghent"), claim(2, "Lyon", valid_from=day(40))],
        [("Ghent", "archived", "superseded", 40), ("Lyon", "active", None, None)],
    ),
    "planned, and what is so now is said again": (
        [claim(1, "Ghent"), claim(2, "Lyon", valid_from=day(40)), claim(3, "Ghent")],
        [("Ghent", "archived", "superseded", 40), ("Lyon", "active", None, None)],
    ),
    "planned, and another until then": (
        [claim(1, "Ghent"), claim(2, "Lyon", valid_from=day(40)), claim(3, "Oslo")],
        [
            ("Ghent", "archived", "superseded", 3),
            ("Lyon", "active", None, None),
            ("Oslo", "archived", "superseded", 40),
        ],
    ),
    "planned, and so already": (
        [claim(1, "Ghent"), claim(2, "Lyon", valid_from=day(40)), claim(9, "Lyon")],
        [("Ghent", "archived", "superseded", 9), ("Lyon", "active", None, None)],
    ),
    "planned, and what is so now ends before": (
        [claim(1, "Ghent"), claim(2, "Lyon", valid_from=day(40)), claim(9, None, "ended")],
        [("Ghent", "archived", "ended", 9), ("Lyon", "active", None, None)],
    ),
    "planned, and called off": (
        [claim(1, "Ghent"), claim(2, "Lyon", valid_from=day(40)), claim(9, "Lyon", "ended")],
        [("Ghent", "active", None, None), ("Lyon", "archived", "corrected", 40)],
    ),
    "planned, and deleted": (
        [claim(1, "Ghent"), claim(2, "Lyon", valid_from=day(40)), claim(9, "Lyon", "deleted")],
        [("Ghent", "active", None, None), ("Lyon", "deleted", "deleted", 40)],
    ),
    "deleted": (
        [claim(1, "Ghent"), claim(2, "Ghent", "deleted")],
        [("Ghent", "deleted", "deleted", None)],
    ),
    "deleted, then said again": (
        [claim(1, "Ghent"), claim(2, "Ghent", "deleted"), claim(3, "Ghent")],
        [("Ghent", "deleted", "deleted", None), ("Ghent", "active", None, None)],
    ),
    "deleted is not reactivated": (
        [claim(1, "Ghent"), claim(2, "Ghent", "deleted"), claim(3, "Ghent", "reactivated")],
        [("Ghent", "deleted", "deleted", None)],
    ),
}


@pytest.mark.parametrize(("claims", "wanted"), CASES.values(), ids=CASES)
def test_what_is_believed_follows_from_what_was_claimed(
    claims: list[Claim], wanted: list[tuple[Any, ...]]
) -> None:
    assert told(*claims) == wanted
    assert told(*reversed(claims), *claims) == wanted


def test_values_of_a_predicate_that_has_many_stand_side_by_side() -> None:
    claims = [claim(1, "tea"), claim(2, "maps"), claim(3, "tea"), claim(4, "maps", "ended")]

    assert told(*claims, cardinality="multi") == [
        ("tea", "active", None, None),
        ("maps", "archived", "ended", 4),
    ]


def test_an_end_means_what_it_names_without_its_goal_where_there_is_one_such() -> None:
    plans = [claim(0, "move to Ghent"), claim(1, "trip to Rome"), claim(2, "trip to Oslo")]

    found = told(*plans, claim(3, "move", "ended"), claim(4, "trip", "ended"), cardinality="multi")

    assert [each[:2] for each in found] == [
        ("move to Ghent", "archived"),
        ("trip to Rome", "active"),
        ("trip to Oslo", "active"),
    ]


def test_a_chain_of_changes_reads_both_ways_without_a_gap() -> None:
    claims = [claim(number, city) for number, city in enumerate("abcab")]

    facts = resolve(claims, owner="o", predicate=PREDICATES["single"])

    assert [fact.superseded_by for fact in facts] == [fact.id for fact in facts[1:]] + [None]
    assert [fact.supersedes for fact in facts] == [None] + [fact.id for fact in facts[:-1]]
    assert all(one.valid_to == next_.valid_from for one, next_ in pairwise(facts))
    assert len({fact.id for fact in facts}) == 5


def test_each_claim_that_says_the_same_raises_the_confidence_up_to_a_limit() -> None:
    once, twice, often = (
        resolve(
            [claim(n, "Ghent", confidence=0.6) for n in range(times)],
            owner="o",
            predicate=PREDICATES["single"],
        )[0]
        for times in (1, 2, 9)
    )

    assert (once.confidence, twice.confidence, often.confidence) == (0.6, 0.84, 0.99)
    assert len(often.claims) == 9


@pytest.mark.parametrize(
    ("at", "places"),
    [(0, []), (1, ["Utrecht"]), (4.9, ["Utrecht"]), (5, ["Ghent"]), (99, ["Ghent"])],
)
def test_what_was_so_at_a_moment(at: float, places: list[str]) -> None:
    facts = resolve(
        [claim(1, "Utrecht"), claim(5, "Ghent")], owner="o", predicate=PREDICATES["single"]
    )

    assert [fact.object for fact in facts if fact.is_valid_at(day(at))] == places


@pytest.mark.parametrize(
    ("one", "other"),
    [("Ghent", " ghent. "), ("a data analyst", "Data  analyst"), ("Malmö", "Malmo\u0308")],
)
def test_spellings_of_one_name_are_the_same(one: str, other: str) -> None:
    assert name_key(one) == name_key(other)


def test_owners_have_facts_of_their_own() -> None:
    ids: set[str] = set()
    for owner in ("a", "b"):
        found: tuple[Fact, ...] = resolve(
            [claim(1, "Ghent")], owner=owner, predicate=PREDICATES["single"]
        )
        ids.update(fact.id for fact in found)

    assert len(ids) == 2
