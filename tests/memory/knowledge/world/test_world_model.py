"""The world model of a subject."""

from datetime import UTC, datetime, timedelta
from typing import Any

from mnestic.memory.knowledge.claims import Claim, ClaimSource
from mnestic.memory.knowledge.facts import Fact
from mnestic.memory.knowledge.predicates import default_predicate
from mnestic.memory.knowledge.resolution import resolve
from mnestic.memory.knowledge.world.world_model import World, world_of

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def claim(said: float, predicate: str, value: str, kind: str = "affirmed", **fields: Any) -> Claim:
    values = {
        "id": f"{said}/{predicate}/{value}/{kind}",
        "kind": kind,
        "subject": "Mara",
        "predicate": predicate,
        "object": value,
        "said_at": NOON + timedelta(days=said),
        "source": ClaimSource(extractor="test"),
    }
    return Claim.model_validate(values | fields)


def world(*claims: Claim, now: float) -> World:
    facts: list[Fact] = []
    for name in {claim.predicate for claim in claims}:
        of_topic = [claim for claim in claims if claim.predicate == name]
        facts += resolve(of_topic, owner="o", predicate=default_predicate(name))
    return world_of("mara", facts, claims, now=NOON + timedelta(days=now))


def test_what_is_so_is_told_with_how_it_changed() -> None:
    told = world(
        claim(0, "lives_in", "Utrecht"),
        claim(1, "likes", "tea"),
        claim(9, "lives_in", "Ghent"),
        now=10,
    )

    assert told.subject == "Mara"
    assert [(fact.predicate, fact.object) for fact in told.facts] == [
        ("likes", "tea"),
        ("lives_in", "Ghent"),
    ]
    (change,) = told.changes
    assert (change.predicate, change.cardinality) == ("lives_in", "single")
    assert [fact.reason for fact in change.facts] == ["superseded by Ghent", None]
    assert [said.object for fact in change.facts for said in fact.said] == ["Utrecht", "Ghent"]


def test_what_is_so_is_what_holds_now_whatever_was_announced() -> None:
    move = claim(9, "lives_in", "Ghent", valid_from=NOON + timedelta(days=30))
    stay = claim(0, "owns", "a ticket", valid_to=NOON + timedelta(days=20))
    said = (claim(0, "lives_in", "Utrecht"), move, stay)

    before, after = (world(*said, now=now) for now in (10, 31))

    assert [fact.object for fact in before.facts] == ["Utrecht", "a ticket"]
    assert [fact.object for fact in after.facts] == ["Ghent"]


def test_nothing_of_what_was_deleted_is_told() -> None:
    visits = [claim(7 * week, "attended", "yoga") for week in range(3)]

    told = world(*visits, claim(15, "attended", "yoga", "deleted"), now=16)

    assert (told.facts, told.changes, told.patterns, told.predictions) == ((), (), (), ())


def test_what_has_faded_is_a_change_and_no_fact() -> None:
    lived = claim(0, "lives_in", "Utrecht")

    told = world(lived, claim(99, "lives_in", "Utrecht", "faded"), now=100)

    assert told.facts == ()
    assert [fact.reason for change in told.changes for fact in change.facts] == [
        "faded: nobody has said or used it for a long time"
    ]


def test_predictions_come_in_the_order_of_their_time() -> None:
    monthly = [claim(30 * month, "attended", "choir") for month in range(4)]
    weekly = [claim(60 + 7 * week, "attended", "yoga") for week in range(5)]

    told = world(*monthly, *weekly, now=91)

    assert [(one.object, one.confidence) for one in told.predictions] == [
        ("yoga", 0.8),
        ("choir", 0.75),
    ]
    assert {pattern.object for pattern in told.patterns} == {"yoga", "choir"}
