"""Entries that a process keeps whole: told as Postgres tells them, in two round trips."""

import random
import tracemalloc
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, cast, get_args

import psycopg
import pytest
from psycopg.rows import TupleRow
from sqlalchemy import text

from mnestic.memory.entries import Entry, EntryType
from mnestic.starter.memory_client import MemoryClient
from mnestic.starter.settings import Settings
from mnestic.stores.postgres.kept_entries import KeptEntries
from mnestic.stores.postgres.memory import PostgresMemory
from mnestic.stores.postgres.search import PostgresSearchStore
from mnestic.stores.postgres.told_entries import ToldEntries
from mnestic.stores.postgres.unit import Unit
from tests.stores.conftest import Begin
from tests.stores.entry_samples import NOON, entry
from tests.stores.kept_samples import read_ahead

QUESTION = "Where is the map of the harbour?"
TENANT = text("SELECT current_setting('mnestic.tenant_id') AS tenant, current_user AS role")


def any_entry(number: int, chance: random.Random) -> Entry:
    """An entry with anything in any column."""

    def names() -> tuple[str, ...]:
        return tuple(chance.sample(("Mara", "Élodie", 'a "b"\\', "東京", "x" * 80), 2))

    at = datetime(2026, 3, 1, tzinfo=UTC) + timedelta(microseconds=chance.randrange(10**13))
    return entry(
        f"e{number}",
        chance.choice(("The map.", "Ünïcode 'quotes' \t 🗺", "x" * 3000, "y" * 5000)),
        entry_type=chance.choice(get_args(EntryType)),
        summary=chance.choice(("", "A map.")),
        session_id=chance.choice((None, "s")),
        source_id=chance.choice((None, "m")),
        channel=chance.choice((None, "#maps")),
        speaker=chance.choice((None, "Mara")),
        subjects=names(),
        keywords=names(),
        tags=names(),
        aliases=names(),
        times=chance.choice(((), ({"words": "noon", "start": at, "end": at},))),
        related=names(),
        parent=chance.choice((None, "e1")),
        importance=chance.random(),
        critical=chance.choice((True, False)),
        at=at,
        expires_at=chance.choice((None, at + timedelta(days=9999))),
    )


async def both(memory: PostgresMemory, owner: tuple[str, str]) -> list[dict[int, Entry]]:
    """All entries, by what the process keeps and by Postgres alone."""
    async with memory.transaction(
        tenant_id=owner[0], agent_id=owner[1], actor="test", write=False
    ) as transaction:
        known = await transaction.search.recognise((), (), model="")
        reading = memory._kept.reading(owner, known.knowledge)
        unit = cast("PostgresSearchStore", transaction.search)._unit
        numbers = [line.number for line in memory._kept._lines]
        found = []
        for one in (reading, None):
            told = ToldEntries(unit, one, numbers)
            (rows,) = await unit.rows_of(told.asking)
            assert bool(rows) == (one is None)
            found.append(told.entries(rows))
    return found


@pytest.mark.parametrize("seed", range(3))
async def test_they_are_as_postgres_tells_them(
    begin: Begin, memory: PostgresMemory, settings: Settings, seed: int
) -> None:
    owner, chance = (settings.tenant_id, "ada"), random.Random(seed)
    async with begin() as transaction:
        await transaction.entries.add([any_entry(number, chance) for number in range(60)])
    async with begin(write=False) as transaction:
        await transaction.search.recognise((), (), model="")
    await read_ahead(memory._ahead, owner)

    kept, stored = await both(memory, owner)

    assert len(kept) > 20
    assert kept == stored
    assert [one.model_dump_json() for one in kept.values()] == [
        stored[number].model_dump_json() for number in kept
    ]


@pytest.mark.parametrize("has_place", [True, False])
async def test_an_entry_that_is_told_again_is_the_same_one_where_it_has_place(
    begin: Begin, memory: PostgresMemory, settings: Settings, has_place: bool
) -> None:
    owner, chance = (settings.tenant_id, "ada"), random.Random(1)
    async with begin() as transaction:
        await transaction.entries.add([any_entry(number, chance) for number in range(60)])
    async with begin(write=False) as transaction:
        await transaction.search.recognise((), (), model="")
    await read_ahead(memory._ahead, owner)
    before = memory.cache_counts().entries
    if not has_place:
        memory._kept.entries = KeptEntries(2000)

    first, stored = await both(memory, owner)
    again, _ = await both(memory, owner)
    counts = dict.fromkeys((one.id for one in stored.values()), 2)
    async with begin() as transaction:
        assert not await transaction.entries.count_accesses(counts)
    counted, stored_counted = await both(memory, owner)
    taken = memory.cache_counts().entries.bytes - before.bytes

    assert first == again == stored
    assert all((again[number] is one) == has_place for number, one in first.items())
    assert counted == stored_counted
    assert all(one.access_count == 2 for one in counted.values())
    assert memory.cache_counts().entries.held == before.held
    assert bool(taken) == has_place
    async with begin() as transaction:
        await transaction.entries.remove([one.id for one in stored.values()])
    assert memory.cache_counts().entries.bytes == 0


@pytest.mark.parametrize(
    "beside",
    [
        {},
        {"keywords": tuple(f"{number} {'word' * 20}" for number in range(60))},
        {"times": tuple({"words": "noon", "start": NOON, "end": NOON} for _ in range(20))},
    ],
)
async def test_it_is_told_how_much_memory_an_entry_takes(
    begin: Begin, memory: PostgresMemory, settings: Settings, beside: dict[str, Any]
) -> None:
    async with begin() as transaction:
        await transaction.entries.add([entry("e", "The map.", at=NOON, **beside)])
    async with begin(write=False) as transaction:
        await transaction.search.recognise((), (), model="")
    await read_ahead(memory._ahead, (settings.tenant_id, "ada"))
    (line,) = memory._kept._lines

    tracemalloc.start()
    made = [line.entry() for _ in range(200)]
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert 0.7 < line.entry_bytes / (taken / len(made)) < 1.5


@pytest.mark.parametrize("zone", ["Africa/Monrovia", "Europe/Berlin"])
async def test_they_are_told_in_utc_whatever_the_time_zone_of_the_session(
    begin: Begin, settings: Settings, zone: str
) -> None:
    assert settings.database_url is not None
    url, owner = settings.database_url.get_secret_value(), (settings.tenant_id, "ada")
    at = datetime(1911, 3, 1, 12, tzinfo=UTC)  # Monrovia was 44 minutes and 30 seconds behind
    async with begin() as transaction:
        await transaction.entries.add([entry("a", at=at)])
    options = f"options=-c%20timezone%3D{zone}"
    memory = PostgresMemory(f"{url}{'&' if '?' in url else '?'}{options}")
    client = MemoryClient(memory, tenant_id=owner[0], agent_id="ada")
    first = await client.retrieve(QUESTION, mode="text")
    await read_ahead(memory._ahead, owner)
    async with memory.transaction(
        tenant_id=owner[0], agent_id="ada", actor="test", write=False
    ) as transaction:
        await transaction.entries.count_accesses({"a": 1})
    again = await client.retrieve(QUESTION, mode="text", limit=9)
    stored = await client.get_entry("a")
    await memory.close()

    (before,), (after,) = first.found, again.found
    assert before.entry.at == after.entry.at == stored.at == at
    told = [one.model_dump(mode="json") for one in (before.entry, after.entry, stored)]
    assert {one["at"] for one in told} == {"1911-03-01T12:00:00Z"}
    assert all(one["last_accessed"].endswith("Z") for one in told[1:])


async def test_how_often_they_were_told_is_noted_as_it_is_counted(
    begin: Begin, memory: PostgresMemory, settings: Settings
) -> None:
    owner = (settings.tenant_id, "ada")
    async with begin() as transaction:
        await transaction.entries.add([entry("a"), entry("b")])
    async with begin(write=False) as transaction:
        await transaction.search.recognise((), (), model="")
    await read_ahead(memory._ahead, owner)

    async with begin(write=False) as transaction:
        await transaction.entries.count_accesses({"a": 3})

    kept, stored = await both(memory, owner)
    assert kept == stored
    assert sorted(one.access_count for one in kept.values()) == [0, 3]


async def test_what_is_kept_is_told_without_asking_for_it_and_leaves_one_audit_row(
    begin: Begin,
    memory: PostgresMemory,
    settings: Settings,
    owner: psycopg.Connection[TupleRow],
    trail: Callable[[], list[tuple[str, str]]],
) -> None:
    whose = (settings.tenant_id, "ada")
    client = MemoryClient(memory, tenant_id=whose[0], agent_id="ada")
    async with begin() as transaction:
        await transaction.entries.add([entry("a"), entry("b", "Tea?", at=NOON)])
    await client.retrieve(QUESTION, mode="text")
    await read_ahead(memory._ahead, whose)
    before = len(trail())
    # No write of ours: nobody hears of it.
    owner.execute("UPDATE mnestic.entry SET summary = 'x' WHERE tenant_id = %s", [whose[0]])

    (told,) = (await client.retrieve(QUESTION, mode="text", limit=9)).found

    assert (told.entry.id, told.entry.summary) == ("a", "")
    assert trail()[before:] == [("entry.search", "*")]


async def test_who_asks_more_after_all_was_committed_asks_as_before(
    begin: Begin, settings: Settings, trail: Callable[[], list[tuple[str, str]]]
) -> None:
    async def who(unit: Unit, *, is_last: bool) -> tuple[str, str]:
        ((row,),) = await unit.rows_of((TENANT, {}), is_last=is_last)
        return row.tenant, row.role

    async with begin(write=False) as transaction:
        unit = cast("PostgresSearchStore", transaction.search)._unit
        unit.read("a", "1")
        told = [await who(unit, is_last=True)]
        assert trail() == [("a", "1")]
        told += [await who(unit, is_last=False), await who(unit, is_last=True)]
        unit.read("b", "2")

    assert told == [(settings.tenant_id, "mnestic_app")] * 3
    assert trail() == [("a", "1"), ("b", "2")]


async def test_who_writes_commits_at_the_end_alone(
    begin: Begin, count: Callable[[str], int]
) -> None:
    async def write() -> None:
        async with begin() as transaction:
            await transaction.entries.add([entry("a")])
            unit = cast("PostgresSearchStore", transaction.search)._unit
            await unit.rows_of((TENANT, {}), is_last=True)
            raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        await write()

    assert count("entry") == 0
