"""When backends have what was written: with the write, later, whatever is killed or away, and what is read through."""

import asyncio
import sys
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, suppress
from typing import Any

import pytest
from temporalio.client import WorkflowHandle
from temporalio.service import RPCError

from mnestic.activities.operations import OperationInput, run_once
from mnestic.memory.errors import BackendUnavailableError, InvalidInputError
from mnestic.memory.forgetting.ports import ScannedRow
from mnestic.memory.forgetting.redaction import RowRedaction
from mnestic.memory.jobs.long_term.backends import ANSWER_LIMIT, STALENESS
from mnestic.memory.jobs.long_term.records import LongTermRecord
from mnestic.memory.names import flush_workflow_id
from mnestic.memory.operations import Operation
from mnestic.memory.ports import Transaction
from mnestic.memory.scope import Scope
from mnestic.starter.client.client_scope import client_caller
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.polls.record_poll import record_poll
from mnestic.starter.settings import Settings
from tests.stores.jobs.backends.conftest import Notes

on_each = pytest.mark.parametrize("backend", ["REMOTE", "REDIS"])


async def test_a_contract_whose_backend_is_away_is_not_applied(notes: Notes) -> None:
    notes.go_away()

    with pytest.raises(BackendUnavailableError, match="backend main"):
        await notes.put_in("REDIS")

    async with notes.begin(write=False) as transaction:
        assert await transaction.contracts.find_for("ada") is None


@on_each
async def test_a_write_through_is_acknowledged_once_the_backend_has_it(
    notes: Notes, backend: str
) -> None:
    await notes.put_in(backend)
    params = OperationInput(
        scope=Scope(**notes.owner, session_id="s"),
        operation=Operation(key="j/1", name="persist", job_id="j"),
    )

    async def work(transaction: Transaction) -> LongTermRecord:
        return await transaction.records.set("notes", "k", "kept")

    notes.go_away()
    for _ in range(2):  # the retry does no write, and is no acknowledgement either
        with pytest.raises(
            BackendUnavailableError, match=r"main.*the write is stored, and is sent"
        ):
            await run_once(notes.memory, params, LongTermRecord, work=work)
        assert await notes.there() is None
    notes.come_back()
    record = await run_once(notes.memory, params, LongTermRecord, work=work)

    assert await notes.there() == ("kept", 1) == (record.value, record.version)


@pytest.mark.parametrize(
    ("backend", "dies"),
    [
        ("REDIS", "after"),
        pytest.param("REMOTE", "after", marks=pytest.mark.acceptance),
        pytest.param("REDIS", "before", marks=pytest.mark.acceptance),
    ],
)
async def test_what_is_written_back_is_neither_lost_nor_doubled_if_who_sends_it_is_killed(
    notes: Notes, settings: Settings, backend: str, dies: str
) -> None:
    await notes.put_in(backend, strategy="write_back")
    for value in ("first", "second"):
        await notes.write(value)
        await notes.write(value, "gone")
    await notes.write(None, "gone")
    assert await notes.there() is None
    assert settings.database_url is not None
    url = settings.database_url.get_secret_value()

    script = ["-m", "tests.stores.jobs.backends.killed_flush", url, notes.addresses[backend]]
    killed = await asyncio.create_subprocess_exec(sys.executable, *script, notes.tenant_id, dies)
    assert await killed.wait() == -9
    sent = await notes.there()

    assert sent == (None if dies == "before" else ("second", 2))
    assert [await notes.flush(), await notes.flush()] == [2, 0]
    assert (await notes.there(), await notes.there("gone")) == (("second", 2), None)


async def test_a_backend_that_was_away_gets_the_latest_of_each_key(notes: Notes) -> None:
    await notes.put_in("REDIS", strategy="write_back")
    for number in range(250):
        await notes.write(number, f"k{number % 120}")

    notes.go_away()
    with pytest.raises(BackendUnavailableError):
        await notes.flush()
    assert await notes.list_pending() == ["ada"]
    notes.come_back()
    assert await notes.flush() == 120

    assert await notes.list_pending() == []
    found = [await notes.there(f"k{number}") for number in (0, 9, 10, 119)]
    assert found == [(240, 3), (249, 3), (130, 2), (239, 2)]


@on_each
async def test_a_backend_that_hangs_holds_all_writers_for_one_limit(
    notes: Notes, backend: str
) -> None:
    await notes.put_in(backend)
    await notes.write(0)

    with notes.frozen():
        async with asyncio.timeout(2 * ANSWER_LIMIT.total_seconds()):
            writes = (notes.write(number, f"k{number}") for number in range(5))
            told = await asyncio.gather(*writes, return_exceptions=True)

    why = "nothing came within 2 s; the write is stored, and is sent once the backend answers"
    assert {str(one) for one in told} == {f"backend main does not answer: {why}"}
    assert [await notes.flush(), await notes.there("k4")] == [5, (4, 1)]


@on_each
async def test_large_records_are_sent_in_calls_of_their_own(
    notes: Notes, monkeypatch: pytest.MonkeyPatch, backend: str
) -> None:
    await notes.put_in(backend, strategy="write_back")
    for key in "abc":
        await notes.write("x" * 700_000, key)
    assert notes.memory._sync is not None
    sent = []
    send = notes.memory._sync._send

    async def spied(backend: Any, rows: Any, *, since: float) -> tuple[int, ...]:
        sent.append([row.key for row in rows])
        return await send(backend, rows, since=since)

    monkeypatch.setattr(notes.memory._sync, "_send", spied)

    assert await notes.flush() == 3
    assert sent == [["a", "b"], ["c"]]


@on_each
async def test_each_way_to_write_by_a_contract_reaches_the_backend(
    notes: Notes, backend: str
) -> None:
    await notes.put_in(backend, conflict_resolution="merge")
    ada = MemoryClient(client_caller(notes.memory, **notes.owner))
    memory = await ada.contract()

    await ada.records.set("notes", "k", {"a": 1, "b": 1})
    seen = [await notes.there()]
    first = await memory.persist("notes", "k", {"a": 2, "b": 2})
    seen.append(await notes.there())
    await memory.persist("notes", "k", {"a": 2, "b": 3}, expected_version=first.version)
    await memory.persist("notes", "k", {"a": 4, "b": 2}, expected_version=first.version)
    seen.append(await notes.there())
    waits = await memory.persist("notes", "k", {"a": 5, "b": 5}, expected_version=first.version)
    assert waits.conflict_id is not None
    seen.append(await notes.there())
    await memory.resolve_conflict("notes", waits.conflict_id, {"a": 6})
    seen.append(await notes.there())
    await ada.records.delete("notes", "k")

    values = [found and found[0] for found in [*seen, await notes.there()]]
    merged = {"a": 4, "b": 3}
    assert values == [{"a": 1, "b": 1}, {"a": 2, "b": 2}, merged, merged, {"a": 6}, None]
    assert await notes.list_pending() == []


@on_each
async def test_what_a_backend_lost_is_sent_again(notes: Notes, backend: str) -> None:
    await notes.put_in(backend)
    await notes.write("kept")
    record = await notes.stored()
    assert record is not None
    await (await notes.backend()).write([record.model_copy(update={"value": None})])
    assert await notes.there() is None

    memory = await MemoryClient(client_caller(notes.memory, **notes.owner)).contract()
    assert [await memory.resend("notes"), await notes.flush()] == [1, 1]

    assert await notes.there() == ("kept", 1)
    with pytest.raises(InvalidInputError, match="'others' has no backend of its own"):
        await memory.resend("others")


async def test_a_worker_sends_what_waits_once_the_backend_is_back(
    notes: Notes,
    client: MnesticClient,
    run_worker: Callable[[], AbstractAsyncContextManager[None]],
    settings: Settings,
) -> None:
    await notes.put_in("REDIS", strategy="write_back")
    await notes.write("late")
    notes.go_away()
    run = client.temporal.get_workflow_handle(flush_workflow_id(notes.tenant_id, "ada"))
    poll = record_poll(
        notes.memory,
        client.temporal,
        tenants=[notes.tenant_id],
        task_queue=settings.task_queue,
    )

    async with run_worker(), poll, asyncio.timeout(30):
        while await failed_attempts(run) < 2:  # noqa: ASYNC110 - Temporal sets no event
            await asyncio.sleep(0.05)
        assert await notes.there() is None
        notes.come_back()
        result = await run.result()

    assert (result["records"], await notes.there()) == (1, ("late", 1))
    assert len((await run.fetch_history()).events) < 20


async def failed_attempts(run: WorkflowHandle[Any, Any]) -> int:
    with suppress(RPCError):  # it is not started yet
        pending = (await run.describe()).raw_description.pending_activities
        return max((one.attempt - 1 for one in pending), default=0)
    return 0


@on_each
async def test_what_is_read_through_is_no_older_than_its_staleness(
    notes: Notes, backend: str
) -> None:
    await notes.put_in(backend, strategy="read_through")
    now = 0.0
    assert notes.memory._sync is not None
    notes.memory._sync._clock = lambda: now
    await notes.write("ours")
    record, others = await notes.stored(), await notes.backend()
    assert record is not None

    seen = [await notes.read()]
    await others.write([record.model_copy(update={"version": 7, "value": "theirs"})])
    seen.append(await notes.read())
    now = STALENESS.total_seconds()
    seen.append(await notes.read())
    await others.write([record.model_copy(update={"version": 8, "value": "newer"})])
    await others.write([record.model_copy(update={"key": "new", "value": "found"})])
    now *= 2
    seen += [await notes.read(write=True), await notes.read("new"), await notes.read("none")]
    notes.go_away()
    assert await notes.read() == ("newer", 8)
    now *= 2
    with pytest.raises(BackendUnavailableError):
        await notes.read()
    notes.come_back()
    await others.write([record.model_copy(update={"version": 9, "value": None})])
    seen.append(await notes.read())
    version = await notes.write("again")

    assert seen == [("ours", 1), ("ours", 1), ("theirs", 7), ("newer", 8), ("found", 1), None, None]
    assert await notes.there() == ("again", version)


@on_each
async def test_what_is_forgotten_leaves_the_backend(
    notes: Notes, count: Callable[[str], int], backend: str
) -> None:
    await notes.put_in(backend)
    await notes.write("Paris. Rome.")
    await notes.write(1, "Paris")
    values, gone = RowRedaction(values={"value": "Rome."}), RowRedaction(remove=True)

    async with notes.begin() as transaction:
        for key, redaction in (("k", values), ("Paris", gone)):
            columns = {"value": "Paris. Rome.", "metadata": None}
            row = ScannedRow(table="long_term_record", key=("notes", key), columns=columns)
            await transaction.forgetting.redaction("f", row, redaction)
    assert count("long_term_record") == 2  # its name is there until the backend has removed it
    await notes.flush()

    assert (await notes.there(), await notes.there("Paris")) == (("Rome.", 2), None)
    assert count("long_term_record") == 1


async def test_records_follow_their_schema_to_another_backend_and_back(notes: Notes) -> None:
    await notes.put_in(None)
    await notes.write("before")
    assert await notes.list_pending() == []

    await notes.put_in("REDIS")
    assert (await notes.flush(), await notes.there()) == (1, ("before", 1))
    await notes.put_in(None)
    await notes.flush()
    await notes.write("after")

    notes.name = "REDIS"
    assert (await notes.there(), await notes.list_pending()) == (("before", 1), [])


async def test_a_write_on_an_older_version_than_the_backend_has_becomes_the_latest(
    notes: Notes,
) -> None:
    """As after a restore of a backup, or if others have written there."""
    await notes.put_in("REDIS")
    await notes.write(1)
    record = await notes.stored()
    assert record is not None
    await (await notes.backend()).write([record.model_copy(update={"version": 9, "value": 9})])

    await notes.write(2)

    assert await notes.there() == await notes.read() == (2, 10)


@on_each
async def test_what_is_written_while_it_is_flushed_is_sent_too(notes: Notes, backend: str) -> None:
    await notes.put_in(backend, strategy="write_back")

    async def flush_often() -> None:
        for _ in range(30):
            await notes.flush()

    async def write_often(key: str) -> None:
        for number in range(20):
            await notes.write(number, key)

    await asyncio.gather(flush_often(), flush_often(), *map(write_often, "abc"))
    await notes.flush()

    assert [await notes.there(key) for key in "abc"] == [(19, 20)] * 3
