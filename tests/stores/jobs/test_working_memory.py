"""Working memory, in every implementation of `Memory`."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.rows import TupleRow

from mnestic.memory.canonical import sha256_hex
from mnestic.memory.errors import StaleVersionError, StoredValueError
from mnestic.memory.jobs.working_memory import Message, ToolCall, WorkingMemory
from mnestic.starter.settings import Settings
from mnestic.stores.postgres.memory import PostgresMemory
from tests.stores.conftest import Begin


@pytest.fixture
def round_trips(
    memory: PostgresMemory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[], list[int]]]:
    """How many statements each round trip to Postgres had since the last call, as libpq traces them."""
    with (tmp_path / "trace").open("w+") as trace:

        @asynccontextmanager
        async def traced() -> AsyncIterator[psycopg.AsyncConnection[Any]]:
            async with connect() as connection:
                connection.pgconn.trace(trace.fileno())
                yield connection
                connection.pgconn.untrace()

        def read() -> list[int]:
            trace.seek(0)
            sent = [line.split("\t")[3].split()[0] for line in trace if "\tF\t" in line]
            trace.truncate(0)
            ends = [index for index, message in enumerate(sent) if message == "Sync"]
            trips = zip([0, *ends], ends, strict=False)
            counts = [sent[begin:end].count("Execute") for begin, end in trips]
            return [number for number in counts if number]

        connect = memory.pool.connect
        monkeypatch.setattr(memory.pool, "connect", traced)
        yield read


async def test_a_session_is_saved_in_two_round_trips_and_loaded_in_one(
    begin: Begin, round_trips: Callable[[], list[int]], trail: Callable[[], list[tuple[str, str]]]
) -> None:
    taken = {}
    async with begin() as transaction:
        first = await transaction.working.save("s1", WorkingMemory().with_note("a"))
    taken["first save"] = round_trips()
    async with begin() as transaction:
        await transaction.working.save("s1", first.with_note("b"))
    taken["save"] = round_trips()
    async with begin(write=False) as transaction:
        transaction.end_with_next()
        await transaction.working.load("s1")
    taken["load"] = round_trips()
    assert trail()[-1] == ("working.load", "s1")
    async with begin() as transaction:
        await transaction.working.checkpoint("s1", "snapshot-1")
    taken["checkpoint"] = round_trips()

    # A transaction begins by two statements, and ends by what it leaves behind and the commit; one that ends with its
    # only statement needs neither BEGIN nor COMMIT.
    assert taken == {"first save": [3, 2], "save": [3, 2], "load": [3], "checkpoint": [3, 2]}


async def test_what_was_saved_is_loaded_with_everything_in_it(begin: Begin) -> None:
    state = (
        WorkingMemory()
        .with_messages(
            [
                Message(
                    id="m1",
                    role="user",
                    content="Grüße, 東京 🙂 e\u0301\n\ttab",
                    at=datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC),
                    speaker="Mara",
                    channel="chat",
                )
            ]
        )
        .with_variables({"n": 1.5, "deep": {"list": [1, None, True, "ß"]}, "": "empty name"})
        .with_tool_call(ToolCall(id="t1", activity="search", arguments={"q": "é"}, result=[]))
        .with_note("noted")
        .with_task("answer")
        .with_checkpoint("snapshot-1")
    )

    async with begin() as transaction:
        before = await transaction.working.load("s1")
        saved = await transaction.working.save("s1", state)

    async with begin(write=False) as transaction:
        loaded = await transaction.working.load("s1")
    assert before == WorkingMemory()
    assert loaded == saved == state.model_copy(update={"version": 1})


async def test_each_save_is_a_version_and_a_stale_one_is_refused_with_what_is_stored_now(
    begin: Begin,
) -> None:
    async with begin() as transaction:
        first = await transaction.working.save("s1", WorkingMemory().with_note("a"))
    async with begin() as transaction:
        now = await transaction.working.save("s1", first.with_note("b"))

    for session, late, stored in (("s1", first, now), ("s2", now, WorkingMemory())):
        with pytest.raises(StaleVersionError, match=session) as caught:
            async with begin() as transaction:
                await transaction.working.save(session, late.with_note("late"))
        assert (caught.value.expected, caught.value.stored) == (late.version, stored)

    assert (now.version, now.scratchpad) == (2, "a\nb")
    async with begin(write=False) as transaction:
        assert await transaction.working.load("s1") == now


async def test_of_writers_at_the_same_version_one_wins(begin: Begin) -> None:
    async def write(note: str) -> str:
        async with begin() as transaction:
            await transaction.working.save("s1", WorkingMemory().with_note(note))
        return note

    outcomes = await asyncio.gather(*(write(f"n{i}") for i in range(8)), return_exceptions=True)

    won = [outcome for outcome in outcomes if isinstance(outcome, str)]
    lost = [outcome for outcome in outcomes if isinstance(outcome, StaleVersionError)]
    assert (len(won), len(lost)) == (1, 7)
    async with begin(write=False) as transaction:
        assert (await transaction.working.load("s1")).scratchpad == won[0]


async def test_a_lock_lets_each_writer_build_on_the_one_before(begin: Begin) -> None:
    async def add(note: str) -> None:
        async with begin() as transaction:
            state = await transaction.working.load("s1", lock=True)
            await transaction.working.save("s1", state.with_note(note))

    await asyncio.gather(*(add(f"n{i}") for i in range(12)))

    async with begin(write=False) as transaction:
        state = await transaction.working.load("s1")
    assert state.version == 12
    assert sorted(state.scratchpad.split("\n")) == sorted(f"n{i}" for i in range(12))


async def test_a_checkpoint_is_a_version_that_names_its_snapshot(
    begin: Begin, trail: Callable[[], list[tuple[str, str]]]
) -> None:
    async with begin() as transaction:
        nobodys = await transaction.working.checkpoint("s2", "snapshot-0")
    told = trail()
    async with begin() as transaction:
        state = await transaction.working.save("s1", WorkingMemory().with_note("a"))
    async with begin() as transaction:
        named = await transaction.working.checkpoint("s1", "snapshot-1")

    async with begin() as transaction:
        loaded = await transaction.working.load("s1")
        kept = await transaction.working.save("s1", loaded.with_note("b"))
    assert nobodys == WorkingMemory(version=1, last_checkpoint="snapshot-0").document()
    assert told == [("working.load", "s2"), ("working.save", "s2")]
    assert loaded == state.with_checkpoint("snapshot-1").model_copy(update={"version": 2})
    assert named == loaded.document()
    assert (kept.last_checkpoint, kept.version) == ("snapshot-1", 3)


async def test_checkpoints_and_saves_of_one_session_queue(begin: Begin) -> None:
    async def mark(index: int) -> None:
        async with begin() as transaction:
            await transaction.working.checkpoint("s1", f"c{index}")
            state = await transaction.working.load("s1")
            await transaction.working.save("s1", state.with_note(f"n{index}"))

    await asyncio.gather(*(mark(i) for i in range(6)))

    async with begin(write=False) as transaction:
        state = await transaction.working.load("s1")
    assert state.version == 12
    assert sorted(state.scratchpad.split("\n")) == sorted(f"n{i}" for i in range(6))


async def test_the_state_of_a_session_is_told_without_its_content(
    begin: Begin, owner: psycopg.Connection[TupleRow], settings: Settings
) -> None:
    async with begin() as transaction:
        nobody_wrote = await transaction.working.find_ref("s1")
        locked = await transaction.working.find_ref("s1", lock=True)
        state = await transaction.working.save("s1", WorkingMemory().with_note("é"))
        written = await transaction.working.find_ref("s1")
    owner.execute(
        "UPDATE mnestic.working_memory SET state = '{}' WHERE tenant_id = %s", [settings.tenant_id]
    )

    async with begin(write=False) as transaction:
        forged = await transaction.working.find_ref("s1")
        document = await transaction.working.load_document("s1")
    assert nobody_wrote == locked == WorkingMemory().document().ref
    assert written == state.document().ref
    assert forged == replace(written, sha256=sha256_hex(b"{}"))
    assert (document.body, document.message_count) == (b"{}", 0)


async def test_a_checkpoint_of_what_is_no_state_is_refused(
    begin: Begin, owner: psycopg.Connection[TupleRow], settings: Settings
) -> None:
    async with begin() as transaction:
        await transaction.working.save("s1", WorkingMemory())
    owner.execute(
        "UPDATE mnestic.working_memory SET state = '[]' WHERE tenant_id = %s", [settings.tenant_id]
    )

    with pytest.raises(StoredValueError, match="session s1"):
        async with begin() as transaction:
            await transaction.working.checkpoint("s1", "n1")


async def test_a_lock_on_a_session_leaves_other_sessions_free(begin: Begin) -> None:
    async with begin() as holder:
        await holder.working.load("s1", lock=True)

        async with asyncio.timeout(10), begin() as other:
            saved = await other.working.save("s2", WorkingMemory().with_note("free"))

    assert saved.version == 1
