"""The operation ledger, in every implementation of `Memory`."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import psycopg
import pytest
from psycopg.rows import TupleRow

from mnestic.memory.errors import IdempotencyConflictError
from mnestic.memory.operations import Operation
from mnestic.memory.ports import Transaction
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
