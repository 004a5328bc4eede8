"""What was believed and what was so, at any moment, in every implementation of `Memory`."""

import random
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime, timedelta
from typing import Any, get_args

import pytest

from mnestic.memory.knowledge.claims import Claim, ClaimKind, ClaimSource
from mnestic.memory.knowledge.facts import Fact, FactStatus, Interval
from mnestic.memory.knowledge.world.world_model import World, world_of
from mnestic.memory.ports import Transaction

Begin = Callable[..., AbstractAsyncContextManager[Transaction]]
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
EVER: dict[str, Any] = {"statuses": get_args(FactStatus)}
KINDS: tuple[ClaimKind, ...] = ("affirmed",) * 6 + get_args(ClaimKind)


def some_claims(seed: int) -> list[Claim]:
    """Forty claims of all kinds about four topics, dated and not, in no order."""
    chance = random.Random(seed)
    days = (None, None, *range(-600, 90, 30))
    dated = [
        sorted(filter(None, (chance.choice(days), chance.choice(days[:1] * 60 + days))))
        for _ in range(40)
    ]
    return [
        Claim(
            id=str(number),
            kind=chance.choice(KINDS),
            subject=chance.choice(["Mara", "Jonas"]),
            predicate=chance.choice(["lives_in", "attended"]),
            object=chance.choice("abc"),
            confidence=0.5,
            said_at=NOON + timedelta(days=chance.randrange(60)),
            valid_from=NOON + timedelta(days=dated[number][0]) if dated[number] else None,
            valid_to=NOON + timedelta(days=dated[number][1]) if dated[number][1:] else None,
            source=ClaimSource(extractor="test", source_id=f"m{number}"),
        )
        for number in range(40)
    ]


async def say(begin: Begin, claims: Sequence[Claim], **scope: Any) -> datetime:
    """Says claims in one transaction; returns a moment after it."""
    async with begin(**scope) as transaction:
        await transaction.facts.claim(claims)
    async with begin(write=False, **scope) as transaction:
        return await transaction.now()


async def pages(begin: Begin, limit: int = 1000, **query: Any) -> list[Fact]:
    found: list[Fact] = []
    cursor = None
    while cursor is not None or not found:
        async with begin(write=False) as transaction:
            page, cursor = await transaction.facts.list_facts(limit=limit, cursor=cursor, **query)
        found += page
        if not page:
            break
    return found


async def world(begin: Begin, agent: str) -> World:
    async with begin(agent=agent, write=False) as transaction:
        facts, _ = await transaction.facts.list_facts(subject="Mara", limit=1000, **EVER)
        claims = await transaction.facts.list_claims_about("Mara")
    return world_of("Mara", facts, claims, now=NOON + timedelta(days=60))


def plain(told: World) -> dict[str, Any]:
    """A world without the ids of facts, which are the agent's own."""
    names = {"id", "supersedes", "superseded_by", "support", "pattern"}

    def strip(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: strip(part) for name, part in value.items() if name not in names}
        return [strip(part) for part in value] if isinstance(value, list) else value

    stripped: dict[str, Any] = strip(told.model_dump(mode="json"))
    return stripped


@pytest.mark.parametrize("seed", [1])
async def test_what_was_believed_at_a_moment_is_what_had_been_worked_out_by_then(
    begin: Begin, seed: int
) -> None:
    claims = some_claims(seed)
    seen: list[tuple[datetime, list[Fact]]] = []
    for first in range(0, 40, 8):
        moment = await say(begin, claims[first : first + 8])
        seen.append((moment, await pages(begin, **EVER)))

    for moment, believed in seen:
        assert await pages(begin, believed_at=moment, **EVER) == believed
        assert await pages(begin, limit=3, believed_at=moment, **EVER) == believed


@pytest.mark.parametrize("seed", [1])
async def test_what_was_so_at_a_moment_is_what_held_then_by_what_is_known(
    begin: Begin, seed: int
) -> None:
    claims = some_claims(seed)
    early = await say(begin, claims[:20])
    then = await pages(begin, **EVER)
    await say(begin, claims[20:])
    now = await pages(begin, **EVER)

    for days in (*range(-610, 0, 40), *range(-1, 92, 6)):
        at = NOON + timedelta(days=days, hours=1)
        assert await pages(begin, as_of=at) == [fact for fact in now if fact.is_valid_at(at)]
        by_then = await pages(begin, as_of=at, believed_at=early)
        assert by_then == [fact for fact in then if fact.is_valid_at(at)]
        assert await pages(begin, as_of=at, ahead=True) == [
            fact for fact in now if fact.is_valid_at(at) or fact.begins_after(at)
        ]
        for subject in ("Mara", "Jonas"):
            so = await pages(begin, subject=subject, predicate="lives_in", as_of=at)
            assert len(so) <= 1


async def held(begin: Begin, first: float, last: float, *asked: str) -> tuple[Fact, ...]:
    """What held of Mara at some time from one day to another."""
    past = Interval(NOON + timedelta(days=first), NOON + timedelta(days=last), frozenset(asked))
    async with begin(write=False) as transaction:
        return await transaction.facts.list_valid("Mara", past)


@pytest.mark.parametrize("seed", [1])
async def test_what_was_so_in_a_time_is_what_held_at_any_moment_of_it(
    begin: Begin, seed: int
) -> None:
    await say(begin, some_claims(seed))
    ever = await pages(begin, subject="Mara", **EVER)

    for first in range(-620, 90, 25):
        last = first + 40
        moments = [NOON + timedelta(days=day) for day in (first, last)]
        begins = [one.valid_from for one in ever if moments[0] < one.valid_from <= moments[1]]
        expected = [one for one in ever if any(map(one.is_valid_at, [*moments, *begins]))]
        expected.sort(key=lambda one: (-one.valid_from.timestamp(), one.id))
        assert list(await held(begin, first, last)) == expected


def told(said: int, value: str, predicate: str = "lives_in", **fields: Any) -> Claim:
    values: dict[str, Any] = {
        "id": f"{said}/{predicate}/{value}",
        "subject": "Mara",
        "predicate": predicate,
        "object": value,
        "said_at": NOON + timedelta(days=said),
        "source": ClaimSource(extractor="test", session_id="s1", source_id=f"m{said}"),
    }
    return Claim(**values | fields)


async def test_where_nothing_is_known_of_a_time_what_is_known_first_after_it_holds(
    begin: Begin,
) -> None:
    await say(begin, [told(1, "Bonn"), told(5, "Turin"), told(1, "Acme", "employer")])

    (bonn,) = await held(begin, -90, -60, "lives_in")
    later = await held(begin, 2, 9, "lives_in", "employer")

    assert bonn.object == "Bonn"
    assert {fact.object for fact in later} == {"Turin", "Acme", "Bonn"}
    assert later[0].object == "Turin"
    assert await held(begin, -90, -60) == ()


async def test_what_is_known_to_have_begun_later_or_to_be_wrong_did_not_hold_before(
    begin: Begin,
) -> None:
    dated = told(4, "Acme", "employer", valid_from=NOON + timedelta(days=2))
    right = told(3, "Turin", kind="corrected")
    await say(begin, [told(1, "Bonn"), right, dated, told(1, "34", "age")])
    async with begin() as transaction:
        await transaction.facts.claim([told(6, "34", "age", id="x", kind="deleted")])

    found = await held(begin, -90, -60, "lives_in", "employer", "age")

    assert [fact.object for fact in found] == ["Turin"]


async def test_what_began_after_an_end_holds_in_the_time_between_unless_it_is_dated(
    begin: Begin,
) -> None:
    await say(begin, [told(1, "Bonn"), told(3, "Bonn", kind="ended"), told(40, "Turin")])
    await say(begin, [told(1, "Acme", "employer"), told(3, "Acme", "employer", kind="ended")])
    await say(begin, [told(40, "Tidal", "employer", valid_from=NOON + timedelta(days=39))])

    between = await held(begin, 10, 20, "lives_in", "employer")

    assert [fact.object for fact in between] == ["Turin"]


async def test_what_was_so_once_holds_of_a_time_of_which_nothing_that_is_asked_is_known(
    begin: Begin,
) -> None:
    once = [told(9, "Rome", "lived_in"), told(12, "Oslo", "lived_in")]
    await say(begin, [told(1, "Bonn"), *once])

    before = await held(begin, -90, -60, "lives_in", "lived_in")
    later = await held(begin, 2, 5, "lives_in", "lived_in")

    assert [fact.object for fact in before] == ["Oslo", "Rome", "Bonn"]
    assert [fact.object for fact in later] == ["Bonn"]


async def test_any_order_of_delivery_with_repeats_gives_the_same_world(begin: Begin) -> None:
    claims = some_claims(7)
    chance = random.Random(11)
    worlds = []
    for number in range(4):
        order = chance.sample(claims, len(claims)) + chance.sample(claims, 10)
        for first in range(0, len(order), 7):
            await say(begin, order[first : first + 7], agent=f"agent{number}")
        worlds.append(plain(await world(begin, f"agent{number}")))

    assert worlds[0]["changes"]
    assert worlds == [worlds[0]] * 4
