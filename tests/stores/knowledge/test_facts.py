"""Claims and facts, in every implementation of `Memory`."""

import asyncio
from collections.abc import Callable
from typing import Any

import psycopg

from mnestic.memory.knowledge.facts import Fact
from mnestic.memory.knowledge.predicates import Predicate
from tests.stores.conftest import Begin
from tests.stores.entry_samples import claim


async def facts(begin: Begin, **query: Any) -> list[Fact]:
    async with begin(write=False) as transaction:
        found, _ = await transaction.facts.list_facts(**query)
    return list(found)


ALL: dict[str, Any] = {"statuses": ("active", "archived", "deleted")}


async def test_a_new_object_takes_the_place_of_the_one_before(begin: Begin) -> None:
    async with begin() as transaction:
        first = await transaction.facts.claim([claim(1, "Utrecht")])
        second = await transaction.facts.claim([claim(5, "Ghent")])

    utrecht, ghent = await facts(begin, **ALL)
    assert [change.before for change in first] == [None]
    assert sorted(change.fact.object for change in second) == ["Ghent", "Utrecht"]
    assert (utrecht.status, utrecht.end, utrecht.superseded_by) == (
        "archived",
        "superseded",
        ghent.id,
    )
    assert (ghent.status, ghent.supersedes, ghent.category) == ("active", utrecht.id, "profile")
    assert utrecht.valid_to == ghent.valid_from
    async with begin(write=False) as transaction:
        assert await transaction.facts.get(utrecht.id) == utrecht
        assert await transaction.facts.list_claims(ghent) == (claim(5, "Ghent"),)


async def test_what_was_claimed_before_changes_nothing(
    begin: Begin, revision: Callable[[], int]
) -> None:
    async with begin() as transaction:
        await transaction.facts.claim([claim(1, "Utrecht"), claim(5, "Ghent")])
    before = revision()

    async with begin() as transaction:
        again = await transaction.facts.claim([claim(5, "Ghent"), claim(1, "Utrecht")])

    assert again == ()
    assert revision() == before


async def test_eight_writers_that_contradict_each_other_leave_one_fact_and_a_chain(
    begin: Begin,
) -> None:
    async def say(number: int) -> None:
        async with begin() as transaction:
            await transaction.facts.claim([claim(number, f"city {number}")])

    await asyncio.gather(*(say(number) for number in (3, 7, 1, 0, 5, 2, 6, 4)))

    found = await facts(begin, **ALL)
    assert [fact.object for fact in found] == [f"city {number}" for number in range(8)]
    assert [fact.status for fact in found] == ["archived"] * 7 + ["active"]
    assert [fact.superseded_by for fact in found[:-1]] == [fact.id for fact in found[1:]]


async def test_writers_of_many_topics_do_not_lock_each_other_out(begin: Begin) -> None:
    async def say(number: int) -> None:
        said = [
            claim(number, f"v{number}", predicate=f"p{index}", id=f"{number}/{index}")
            for index in range(9)
        ]
        async with begin() as transaction:
            await transaction.facts.claim(said if number % 2 else said[::-1])

    async with asyncio.timeout(60):
        await asyncio.gather(*(say(number) for number in range(8)))

    assert len(await facts(begin, **ALL)) == 72


async def test_what_was_believed_at_a_moment_of_ours(begin: Begin) -> None:
    moments = []
    for number, city in ((5, "Ghent"), (1, "Utrecht")):  # the older message comes later
        async with begin() as transaction:
            await transaction.facts.claim([claim(number, city)])
        async with begin(write=False) as transaction:
            moments.append(await transaction.now())

    async with begin(write=False) as transaction:
        believed = [
            await transaction.facts.list_facts(believed_at=moment, **ALL) for moment in moments
        ]
        nothing = await transaction.facts.list_facts(believed_at=moments[0], subject="Jonas")
    (first, _), (second, _) = believed
    assert [(fact.object, fact.supersedes) for fact in first] == [("Ghent", None)]
    assert [fact.object for fact in second] == ["Utrecht", "Ghent"]
    assert list(second) == await facts(begin, **ALL)
    assert nothing == ((), None)


async def test_a_predicate_that_is_changed_is_worked_out_anew(begin: Begin) -> None:
    said = [claim(1, "tea"), claim(2, "maps"), claim(3, "tea")]
    async with begin() as transaction:
        await transaction.facts.claim(
            [one.model_copy(update={"predicate": "likes"}) for one in said]
        )
    side_by_side = await facts(begin)

    async with begin() as transaction:
        await transaction.facts.set_predicate(
            Predicate(name="likes", cardinality="single", category="preferences")
        )
        await transaction.facts.settle("likes")
    one = await facts(begin)
    async with begin() as transaction:
        await transaction.facts.set_predicate(Predicate(name="likes", category="preferences"))
        changes = await transaction.facts.settle("likes")

    assert [fact.object for fact in side_by_side] == ["tea", "maps"]
    assert [fact.object for fact in one] == ["tea"]
    assert await facts(begin, **ALL) == side_by_side
    assert [change.fact.id for change in changes if change.after is None] == [one[0].id]


async def test_a_transaction_on_many_topics_takes_no_more_locks_than_postgres_has_room_for(
    begin: Begin, admin_url: str
) -> None:
    claims = [claim(1, "x", id=f"c{n}", predicate=f"likes_{n}") for n in range(1500)]

    async with begin() as transaction:
        await transaction.facts.claim(claims)
        with psycopg.connect(admin_url) as connection:
            locks = connection.execute(
                "SELECT count(*) FROM pg_locks JOIN pg_database ON oid = database "
                "WHERE locktype = 'advisory' AND datname = current_database()"
            ).fetchone()

    assert locks is not None
    assert 0 < locks[0] < 1100
