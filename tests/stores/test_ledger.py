"""The operation ledger, in every implementation of `Memory`."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import psycopg
import pytest
from psycopg.rows import TupleRow

from mnestic.memory.errors import IdempotencyConflictError, InvalidInputError
from mnestic.memory.operations import Operation
from mnestic.memory.ports import Memory, Transaction
from mnestic.starter.settings import Settings

Begin = Callable[..., AbstractAsyncContextManager[Transaction]]
SET = Operation(key="j1/0/1/remember", name="remember", job_id="j1")


async def write_once(begin: Begin, *, request: str = "h1", agent: str = "ada") -> Any:
    async with begin(agent=agent) as transaction:
        stored = await transaction.replay(SET, request)
        if stored is not None:
            return stored
        record = await transaction.records.set("n", "k", "value")
        await transaction.complete(SET, {"version": record.version})
        return {"version": record.version}


async def write(begin: Begin, *keys: str, job_id: str | None = "j1", agent: str = "ada") -> None:
    for key in keys:
        async with begin(agent=agent) as transaction:
            operation = Operation(key=key, name=key.rpartition("/")[2], job_id=job_id)
            await transaction.replay(operation, "h1")


async def test_an_operation_that_comes_again_gets_its_first_result(begin: Begin) -> None:
    first = await write_once(begin)

    again = await write_once(begin)

    assert first == again == {"version": 1}
    async with begin(write=False) as transaction:
        assert (await transaction.records.get("n", "k")).version == 1
        assert await transaction.find_result(SET, "h1") == {"version": 1}


async def test_the_same_key_for_another_request_is_refused(begin: Begin) -> None:
    await write_once(begin)

    with pytest.raises(IdempotencyConflictError, match=SET.key):
        await write_once(begin, request="h2")
    with pytest.raises(IdempotencyConflictError):
        async with begin(write=False) as transaction:
            await transaction.find_result(SET, "h2")

    async with begin(write=False) as transaction:
        assert (await transaction.records.get("n", "k")).version == 1


async def test_the_same_key_of_another_agent_is_refused(begin: Begin) -> None:
    await write_once(begin)

    with pytest.raises(IdempotencyConflictError):
        await write_once(begin, agent="eve")


async def test_another_tenant_has_a_ledger_of_its_own(begin: Begin, settings: Settings) -> None:
    await write_once(begin)

    async with begin(tenant=f"other-{settings.tenant_id}") as transaction:
        stored = await transaction.replay(SET, "h2")

    assert stored is None


async def test_an_operation_that_nobody_did_has_no_result(begin: Begin) -> None:
    async with begin(write=False) as transaction:
        found = await transaction.find_result(SET, "h1")

    assert found is None


async def test_the_same_operation_many_times_at_once_is_done_once(
    begin: Begin, count: Callable[[str], int]
) -> None:
    results = await asyncio.gather(*(write_once(begin) for _ in range(10)))

    assert results == [{"version": 1}] * 10
    assert (count("operation"), count("long_term_record")) == (1, 1)


async def test_a_rollback_leaves_no_entry_so_that_a_retry_does_the_work(
    begin: Begin, count: Callable[[str], int]
) -> None:
    async def fail() -> None:
        async with begin() as transaction:
            await transaction.replay(SET, "h1")
            await transaction.records.set("n", "k", "half")
            raise RuntimeError("halfway")

    with pytest.raises(RuntimeError, match="halfway"):
        await fail()
    assert (count("operation"), count("long_term_record"), count("audit_log")) == (0, 0, 0)

    result = await write_once(begin)

    assert result == {"version": 1}


async def test_who_waits_for_an_operation_that_is_rolled_back_does_it(
    begin: Begin, owner: psycopg.Connection[TupleRow]
) -> None:
    entered = asyncio.Event()

    async def until_somebody_waits() -> None:
        async with asyncio.timeout(30):
            waiting = None
            while waiting is None:
                await asyncio.sleep(0.01)
                waiting = owner.execute("SELECT 1 FROM pg_locks WHERE NOT granted").fetchone()

    async def fail() -> None:
        async with begin() as transaction:
            await transaction.replay(SET, "h1")
            entered.set()
            await until_somebody_waits()
            raise RuntimeError("halfway")

    async def follow() -> Any:
        await entered.wait()
        return await write_once(begin)

    outcomes = await asyncio.gather(fail(), follow(), return_exceptions=True)

    assert isinstance(outcomes[0], RuntimeError)
    assert outcomes[1] == {"version": 1}


async def test_audit_rows_of_an_operation_name_it(
    begin: Begin, owner: psycopg.Connection[TupleRow], settings: Settings
) -> None:
    await write_once(begin)

    rows = owner.execute(
        "SELECT actor, action, operation_key FROM mnestic.audit_log WHERE tenant_id = %s",
        [settings.tenant_id],
    ).fetchall()
    assert rows == [("test", "record.set", SET.key)]


async def test_the_operations_of_a_job_are_listed_in_the_order_they_were_done(begin: Begin) -> None:
    await write(begin, "j1/0/10/think", "j1/0/9/remember", "j1/1/1/end")
    await write(begin, "j2/0/1/remember", job_id="j2")
    await write(begin, "client/1", job_id=None)

    async with begin(write=False) as transaction:
        first, cursor = await transaction.list_operations("j1", limit=2)
        rest, end = await transaction.list_operations("j1", limit=2, cursor=cursor)

    assert [(done.key, done.name) for done in (*first, *rest)] == [
        ("j1/0/10/think", "think"),
        ("j1/0/9/remember", "remember"),
        ("j1/1/1/end", "end"),
    ]
    assert first[0].created_at < rest[0].created_at
    assert end is None


async def test_a_cursor_from_elsewhere_lists_no_operations(
    begin: Begin, bad_time_cursor: str
) -> None:
    with pytest.raises(InvalidInputError, match="cursor"):
        async with begin(write=False) as transaction:
            await transaction.list_operations("j1", cursor=bad_time_cursor)


async def test_operations_of_another_agent_and_tenant_are_not_listed(begin: Begin) -> None:
    await write(begin, "j1/0/1/remember")

    for stranger in (begin(agent="eve", write=False), begin(tenant="other", write=False)):
        async with stranger as transaction:
            assert await transaction.list_operations("j1") == ((), None)


async def test_the_agent_of_a_job_is_found_by_what_the_job_wrote(
    begin: Begin, memory: Memory, settings: Settings
) -> None:
    await write(begin, "j1/0/1/remember", "j1/0/2/end", agent="eve")

    found = await memory.find_agent(tenant_id=settings.tenant_id, job_id="j1")

    assert found == "eve"
    assert await memory.find_agent(tenant_id=settings.tenant_id, job_id="j2") is None
    assert await memory.find_agent(tenant_id="other", job_id="j1") is None
