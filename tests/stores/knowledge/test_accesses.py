"""How often entries were told, in every implementation of `Memory`."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import timedelta

import psycopg
import pytest
from psycopg.rows import TupleRow

from mnestic.memory.knowledge.entries import Entry
from mnestic.memory.ports import Transaction
from mnestic.starter.settings import Settings
from mnestic.stores.postgres.knowledge.accesses import AccessCounts
from mnestic.stores.postgres.memory import PostgresMemory
from mnestic.stores.postgres.unit_of_work import Owner
from tests.stores.conftest import Begin
from tests.stores.entry_samples import entry

FOREVER = timedelta(days=1)


@pytest.fixture
async def known(begin: Begin) -> None:
    async with begin() as transaction:
        await transaction.entries.add([entry("a"), entry("b", "The tide table")])


@pytest.fixture
def make(begin: Begin) -> Callable[..., AccessCounts]:
    """Makes counts that wait until they are closed, unless a test has other limits."""

    def make(**limits: timedelta) -> AccessCounts:
        def counting(whose: Owner) -> AbstractAsyncContextManager[Transaction]:
            return begin(agent=whose[1], tenant=whose[0], write=False)

        return AccessCounts(counting, **{"delay": FOREVER, **limits})

    return make


@pytest.fixture
def ada(settings: Settings) -> Owner:
    return settings.tenant_id, "ada"


async def stored(begin: Begin) -> dict[str, Entry]:
    async with begin(write=False) as transaction:
        return await transaction.entries.select(["a", "b"])


async def accesses(
    begin: Begin, agent: str = "ada", names: Sequence[str] = ("a", "b")
) -> dict[str, int]:
    async with begin(agent=agent, write=False) as transaction:
        found = await transaction.entries.select(names)
    return {name: one.access_count for name, one in found.items()}


@pytest.mark.usefixtures("known")
async def test_accesses_are_written_together_and_raise_no_revision(
    begin: Begin,
    make: Callable[..., AccessCounts],
    ada: Owner,
    revision: Callable[[], int],
    trail: Callable[[], list[tuple[str, str]]],
) -> None:
    before, counts = revision(), make()
    for ids in (["a", "b"], ["a"], ["gone"]):
        counts.add(ada, ids)
    assert await accesses(begin) == {"a": 0, "b": 0}
    await counts.close()

    after = await stored(begin)
    assert {name: one.access_count for name, one in after.items()} == {"a": 2, "b": 1}
    assert all(one.last_accessed is not None for one in after.values())
    assert revision() == before
    assert [action for action, _ in trail()].count("entry.access") == 1


@pytest.mark.usefixtures("known")
async def test_an_entry_that_somebody_writes_is_passed_over(begin: Begin) -> None:
    async with begin() as writer, begin(write=False) as counting:
        await writer.entries.select(["a"], lock=True)
        held = await counting.accesses.count({"a": 1, "b": 3, "gone": 1})

    assert held == {"a"}
    assert await accesses(begin) == {"a": 0, "b": 3}


async def test_a_count_leaves_an_entry_on_its_page(
    begin: Begin, owner: psycopg.Connection[TupleRow], settings: Settings
) -> None:
    """Else each of them is written into all indexes."""

    def pages() -> list[tuple[str, int]]:
        asked = "SELECT id, (ctid::text::point)[0]::int FROM mnestic.entry WHERE tenant_id = %s ORDER BY id"
        return owner.execute(asked, [settings.tenant_id]).fetchall()

    names = [f"{number:03}" for number in range(100)]
    async with begin() as transaction:
        await transaction.entries.add(
            [entry(name, "The map of the harbour " * 20) for name in names]
        )
    before = pages()
    assert len({page for _, page in before[:-1]}) > 3
    for name in names[::20]:
        async with begin(write=False) as transaction:
            assert not await transaction.accesses.count({name: 1})

    assert pages() == before
    assert sum((await accesses(begin, names=names)).values()) == 5


@pytest.mark.usefixtures("known")
async def test_closing_waits_for_an_entry_that_somebody_writes(
    begin: Begin, make: Callable[..., AccessCounts], ada: Owner, owner: psycopg.Connection[TupleRow]
) -> None:
    counts = make()
    counts.add(ada, ["a", "b"])
    async with begin() as writer:
        found = await writer.entries.select(["a"], lock=True)
        closing = asyncio.create_task(counts.close())
        await _until_held_up(owner)
        await writer.entries.change([found["a"].model_copy(update={"tags": ("tide",)})])
    await closing

    after = await stored(begin)
    assert {name: one.access_count for name, one in after.items()} == {"a": 1, "b": 1}
    assert after["a"].tags == ("tide",)


@pytest.mark.usefixtures("known")
async def test_who_has_read_an_entry_before_does_not_undo_its_accesses(begin: Begin) -> None:
    read = await stored(begin)
    async with begin(write=False) as transaction:
        await transaction.accesses.count({"a": 5})
    async with begin() as transaction:
        await transaction.entries.change([read["a"]])

    assert (await accesses(begin))["a"] == 5


@pytest.mark.usefixtures("known")
async def test_closing_gives_up_what_it_cannot_write_in_time(
    begin: Begin, make: Callable[..., AccessCounts], ada: Owner, caplog: pytest.LogCaptureFixture
) -> None:
    hasty = make(closing=timedelta(milliseconds=300))
    hasty.add(ada, ["a", "b"])
    async with begin() as writer:
        await writer.entries.select(["a"], lock=True)
        await hasty.close()

    assert await accesses(begin) == {"a": 0, "b": 1}
    assert "accesses are given up" in caplog.text


async def test_a_database_that_is_down_fails_nobody(caplog: pytest.LogCaptureFixture) -> None:
    down = PostgresMemory("postgresql://nobody@127.0.0.1:1/nothing", pool_size=1)
    down.count_accesses(["a"], tenant_id="t", agent_id="ada")
    await down.close()

    assert "accesses are not counted yet" in caplog.text


BROKEN = """
CREATE FUNCTION mnestic.break_it() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'broken'; END $$;
CREATE TRIGGER break_it BEFORE UPDATE ON mnestic.entry
   FOR EACH ROW WHEN (OLD.agent_id = 'bea') EXECUTE FUNCTION mnestic.break_it()
"""


@pytest.mark.usefixtures("known")
async def test_a_failure_of_another_kind_is_logged_loses_no_count_and_keeps_no_others(
    begin: Begin,
    make: Callable[..., AccessCounts],
    ada: Owner,
    owner: psycopg.Connection[TupleRow],
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def counted(agent: str, **expected: int) -> None:
        async with asyncio.timeout(30):
            while await accesses(begin, agent) != expected:  # noqa: ASYNC110 - Postgres sets no event
                await asyncio.sleep(0.02)

    async with begin(agent="bea") as transaction:
        await transaction.entries.add([entry("a")])
    counts = make(delay=timedelta(0))
    owner.execute(BROKEN)
    try:
        counts.add((ada[0], "bea"), ["a"])
        counts.add(ada, ["a"])
        await counted("ada", a=1, b=0)
    finally:
        owner.execute("DROP FUNCTION mnestic.break_it CASCADE")
    assert await accesses(begin, "bea") == {"a": 0}

    counts.add(ada, ["b"])
    await counted("ada", a=1, b=1)
    await counted("bea", a=1)
    await counts.close()

    assert [one.message for one in caplog.records] == ["accesses are not counted yet"]


@pytest.mark.usefixtures("known")
async def test_many_counts_beside_many_writers_lock_nobody_out(
    begin: Begin, make: Callable[..., AccessCounts], ada: Owner
) -> None:
    async def write() -> None:
        for number in range(10):
            async with begin() as transaction:
                for name in ("a", "b"):  # one lock after the other
                    found = await transaction.entries.select([name], lock=True)
                    tagged = found[name].model_copy(update={"tags": (f"t{number}",)})
                    await transaction.entries.change([tagged])

    async def count() -> None:
        for _ in range(20):
            counts = make(delay=timedelta(0), closing=timedelta(seconds=30))
            counts.add(ada, ["b", "a"])
            await counts.close()

    async with asyncio.timeout(120):
        await asyncio.gather(write(), write(), count(), count())

    assert await accesses(begin) == {"a": 40, "b": 40}


async def _until_held_up(owner: psycopg.Connection[TupleRow]) -> None:
    """Until somebody waits for a lock in this test's database."""
    asked = (
        "SELECT count(*) FROM pg_stat_activity "
        "WHERE wait_event_type = 'Lock' AND datname = current_database()"
    )
    async with asyncio.timeout(30):
        while owner.execute(asked).fetchone() == (0,):  # noqa: ASYNC110 - Postgres sets no event
            await asyncio.sleep(0.02)
