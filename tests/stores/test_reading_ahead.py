"""Reading ahead: an agent that is asked again and again has all of its entries' rows kept, and never one that is stale."""

import asyncio
from typing import cast

import psycopg
import pytest
from psycopg.rows import TupleRow
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from mnestic.starter.memory_client import MemoryClient
from mnestic.starter.settings import Settings
from mnestic.stores.postgres.candidates import COLUMNS, line_of
from mnestic.stores.postgres.kept import Kept
from mnestic.stores.postgres.memory import PostgresMemory
from mnestic.stores.postgres.reading_ahead import ReadingAhead
from mnestic.stores.postgres.search import PostgresSearchStore
from mnestic.stores.postgres.unit import Owner
from tests.stores.conftest import Begin
from tests.stores.entry_samples import entry
from tests.stores.kept_samples import read_ahead

NUMBER = 360
FEW, MANY = 10**6, 10**7  # bytes


@pytest.fixture
def ada(settings: Settings) -> Owner:
    return (settings.tenant_id, "ada")


@pytest.fixture
async def known(begin: Begin) -> int:
    """Entries of which a third are about a ferry; the count of changes after them."""
    about = ("The ferry leaves at {}.", "The lamp of room {} is out.", "Jonas saw {} herons.")
    async with begin() as transaction:
        await transaction.entries.add(
            [entry(f"e{number}", about[number % 3].format(number)) for number in range(NUMBER)]
        )
    async with begin(write=False) as transaction:
        return (await transaction.search.recognise((), (), model="")).knowledge


@pytest.mark.usefixtures("known")
async def test_who_is_asked_again_has_all_rows_kept(memory: PostgresMemory, ada: Owner) -> None:
    client = MemoryClient(memory, tenant_id=ada[0], agent_id="ada")

    await client.retrieve("When does the ferry leave?", mode="text")
    after_one = memory.cache_counts().entries.held
    await client.retrieve("Is the ferry late?", mode="text")
    assert memory._ahead._working is not None
    await asyncio.wait_for(memory._ahead._working, 30)
    before = memory.cache_counts().entries
    assert before.held == NUMBER
    found = await client.retrieve("herons", mode="text", limit=3)

    after = memory.cache_counts().entries
    assert 100 <= after_one < NUMBER
    assert [one.entry.content[-7:] for one in found.found] == ["herons."] * 3
    assert after.hits > before.hits
    assert after.misses == before.misses


async def test_what_changes_meanwhile_is_not_kept(
    reading_engine: AsyncEngine, begin: Begin, ada: Owner, known: int
) -> None:
    kept = Kept(max_bytes=MANY)
    kept.read_at(ada, known)
    async with begin() as transaction:
        await transaction.entries.add([entry("late")])

    await read_ahead(ReadingAhead(reading_engine, kept), ada)

    assert kept.counts().entries.held == 0


async def test_rows_that_are_kept_stay_as_they_are(
    reading_engine: AsyncEngine, ada: Owner, known: int
) -> None:
    kept = Kept(max_bytes=MANY)
    reading = kept.read_at(ada, known)
    ahead = ReadingAhead(reading_engine, kept)
    await read_ahead(ahead, ada)
    first = {line.number: line for line in kept._lines}
    kept._lines.drop(reading.generation, min(first))

    await read_ahead(ahead, ada)

    second = {line.number: line for line in kept._lines}
    assert [number for number in first if second[number] is not first[number]] == [min(first)]
    assert len(first) == NUMBER


async def test_all_rows_are_prepared_for_questions_and_their_words_told(
    reading_engine: AsyncEngine, begin: Begin, ada: Owner
) -> None:
    async with begin() as transaction:
        await transaction.entries.add(
            [
                entry("e1", "The lamp is out.", session_id="s"),
                entry("e2", "The ferry leaves at nine now."),
                entry("e3", "?"),
            ]
        )
    async with begin(write=False) as transaction:
        knowledge = (await transaction.search.recognise((), (), model="")).knowledge
    kept, told = Kept(max_bytes=MANY), []
    reading = kept.read_at(ada, knowledge)
    ahead = ReadingAhead(reading_engine, kept)
    await read_ahead(ahead, ada)
    places = kept.places(reading.generation)
    first, *others = sorted(kept._lines, key=lambda line: line.number)
    first._terms = None  # as of one that a question has read
    for line in others:
        kept._lines.drop(reading.generation, line.number)

    ahead.begin(ada, told.append)
    await asyncio.wait_for(ahead._working, 30)

    assert sorted(told) == [("ferry", "leave", "nine"), ("lamp",)]
    assert first._terms == ("lamp",)
    assert places is not None
    assert {session: text.split("\0")[0] for session, (_, text) in places._told.items()} == {
        "s": "the lamp is out."
    }
    assert [
        line._changes is None for line in sorted(kept._lines, key=lambda line: line.number)
    ] == [*(True, False, True)]


async def test_rows_are_read_while_there_is_place_the_newest_first(
    reading_engine: AsyncEngine, ada: Owner, known: int
) -> None:
    large, small = Kept(max_bytes=MANY), Kept(max_bytes=FEW)
    for kept in (large, small):
        kept.read_at(ada, known)
        await read_ahead(ReadingAhead(reading_engine, kept), ada)

    all_of_them, some = (sorted(line.number for line in kept._lines) for kept in (large, small))
    assert len(all_of_them) == NUMBER
    assert 0 < len(some) < NUMBER
    assert some == all_of_them[-len(some) :]


async def test_what_questions_have_read_takes_no_more_where_there_is_no_place_for_the_rest(
    reading_engine: AsyncEngine, begin: Begin, settings: Settings
) -> None:
    owner = (settings.tenant_id, "bea")
    async with begin(agent="bea") as transaction:
        await transaction.entries.add(
            [entry(f"e{number}", "Tea?", summary="x" * 9000) for number in range(20)]
        )
    async with begin(agent="bea", write=False) as transaction:
        known = await transaction.search.recognise((), (), model="")
        store = cast("PostgresSearchStore", transaction.search)
        (rows,) = await store._unit.rows_of(
            (text(f"SELECT {COLUMNS} FROM mnestic.entry AS e WHERE e.agent_id = 'bea'"), {})
        )
    kept = Kept(max_bytes=200_000)
    kept.read_at(owner, known.knowledge).keep(map(line_of, rows))
    before = kept.counts().entries
    for _ in range(2):
        await read_ahead(ReadingAhead(reading_engine, kept), owner)

    assert before.held == 20
    assert kept.counts().entries == before
    assert sum(line.bytes for line in kept._lines) == before.bytes


async def test_long_texts_are_not_read_but_known_to_be_there(
    reading_engine: AsyncEngine, begin: Begin, ada: Owner
) -> None:
    async with begin() as transaction:
        await transaction.entries.add(
            [entry("long", "x" * 20_000, session_id="s"), entry("short", "Tea?", session_id="s")]
        )
    async with begin(write=False) as transaction:
        knowledge = (await transaction.search.recognise((), (), model="")).knowledge
    kept = Kept(max_bytes=MANY)
    reading = kept.read_at(ada, knowledge)
    await read_ahead(ReadingAhead(reading_engine, kept), ada)

    (held,) = kept._lines
    assert held.content == "Tea?"
    assert (
        reading.apart([held.number], frozenset({"mara"})) == {}
    )  # who knows what is in the long one


async def test_what_fails_for_one_agent_keeps_others_from_nothing(
    reading_engine: AsyncEngine,
    begin: Begin,
    owner: psycopg.Connection[TupleRow],
    ada: Owner,
    known: int,
    caplog: pytest.LogCaptureFixture,
) -> None:
    bea = (ada[0], "bea")
    async with begin(agent="bea") as transaction:
        await transaction.entries.add([entry("b")])
    owner.execute(  # a time that the driver cannot read
        "UPDATE mnestic.entry SET at = '20000-01-01' WHERE tenant_id = %s AND agent_id = 'bea'",
        [ada[0]],
    )
    kept = Kept(max_bytes=MANY)
    kept.read_at(bea, 1)
    kept.read_at(ada, known)
    ahead = ReadingAhead(reading_engine, kept)
    ahead.begin(bea)
    await read_ahead(ahead, ada)

    assert "entries are not read ahead" in caplog.text
    assert kept.counts().entries.held == NUMBER


@pytest.mark.usefixtures("known")
async def test_a_database_that_is_down_fails_nobody(
    ada: Owner, caplog: pytest.LogCaptureFixture
) -> None:
    down = create_async_engine("postgresql+psycopg://nobody@127.0.0.1:1/nothing")
    kept = Kept(max_bytes=MANY)
    kept.read_at(ada, 1)

    await read_ahead(ReadingAhead(down, kept), ada)

    assert "entries are not read ahead" in caplog.text
    await down.dispose()


async def test_who_closes_ends_it_midway(
    reading_engine: AsyncEngine, ada: Owner, known: int
) -> None:
    kept = Kept(max_bytes=MANY)
    kept.read_at(ada, known)
    ahead = ReadingAhead(reading_engine, kept)
    ahead.begin(ada)
    async with asyncio.timeout(30):
        while not kept.counts().entries.held:  # noqa: ASYNC110 - it sets no event
            await asyncio.sleep(0)

    await ahead.close()
    ahead.begin(ada)

    assert ahead._working is not None
    assert ahead._working.cancelled()
    assert 0 < kept.counts().entries.held < NUMBER


async def test_a_memory_that_is_closed_reads_no_more(
    memory: PostgresMemory, ada: Owner, known: int
) -> None:
    memory._kept.read_at(ada, known)
    memory._ahead.begin(ada)

    await memory.close()

    assert memory._ahead._working is not None
    assert memory._ahead._working.cancelled()
