"""The operation ledger, in every implementation of `Memory`."""

import asyncio
from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from psycopg.rows import TupleRow

from mnestic.memory.errors import IdempotencyConflictError
from mnestic.memory.operations import Operation
from mnestic.memory.ports import Memory
from mnestic.starter.settings import Settings
from tests.stores.conftest import Begin

SET = Operation(key="j1/0/1/remember", name="remember", job_id="j1")


async def write_once(begin: Begin, *, request: str = "h1", agent: str = "ada") -> Any:
    async with begin(agent=agent) as transaction:
        stored = await transaction.replay(SET, request)
        if stored is not None:
            return stored
        record = await transaction.records.set("n", "k", "value")
        await transaction.complete(SET, {"version": record.version})
        return {"version": record.version}


async def test_an_operation_that_comes_again_gets_its_first_result(
    begin: Begin, owner: psycopg.Connection[TupleRow], settings: Settings
) -> None:
    async with begin(write=False) as transaction:
        before = await transaction.find_result(SET, "h1")
    first = await write_once(begin)
    rows = owner.execute(
        "SELECT actor, action, operation_key FROM mnestic.audit_log WHERE tenant_id = %s",
        [settings.tenant_id],
    ).fetchall()

    again = await write_once(begin)

    assert before is None
    assert rows == [("test", "record.set", SET.key)]
    assert first == again == {"version": 1}
    async with begin(write=False) as transaction:
        assert (await transaction.records.get("n", "k")).version == 1
        assert await transaction.find_result(SET, "h1") == {"version": 1}


async def test_the_same_key_for_another_request_or_agent_is_refused_and_another_tenant_has_its_own(
    begin: Begin, settings: Settings
) -> None:
    await write_once(begin)

    with pytest.raises(IdempotencyConflictError, match=SET.key):
        await write_once(begin, request="h2")
    with pytest.raises(IdempotencyConflictError, match=SET.key):
        await write_once(begin, agent="eve")
    async with begin(write=False) as transaction:
        with pytest.raises(IdempotencyConflictError):
            await transaction.find_result(SET, "h2")
    async with begin(tenant=f"other-{settings.tenant_id}") as transaction:
        assert await transaction.replay(SET, "h2") is None

    async with begin(write=False) as transaction:
        assert (await transaction.records.get("n", "k")).version == 1


async def test_the_same_operation_many_times_at_once_is_done_once(
    begin: Begin, count: Callable[[str], int]
) -> None:
    results = await asyncio.gather(*(write_once(begin) for _ in range(10)))

    assert results == [{"version": 1}] * 10
    assert (count("operation"), count("long_term_record")) == (1, 1)


async def test_who_waits_for_an_operation_that_is_rolled_back_does_it(
    begin: Begin, owner: psycopg.Connection[TupleRow], count: Callable[[str], int]
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
            await transaction.records.set("n", "k", "half")
            entered.set()
            await until_somebody_waits()
            raise RuntimeError("halfway")

    async def follow() -> Any:
        await entered.wait()
        return await write_once(begin)

    outcomes = await asyncio.gather(fail(), follow(), return_exceptions=True)

    assert isinstance(outcomes[0], RuntimeError)
    assert outcomes[1] == {"version": 1}
    tables = ("operation", "long_term_record", "audit_log")
    assert [count(table) for table in tables] == [1, 1, 1]


async def test_the_agent_of_a_job_is_found_by_what_the_job_wrote(
    begin: Begin, memory: Memory, settings: Settings
) -> None:
    await write_once(begin, agent="eve")

    found = await memory.find_agent(tenant_id=settings.tenant_id, job_id="j1")

    assert found == "eve"
    assert await memory.find_agent(tenant_id=settings.tenant_id, job_id="j2") is None
    assert await memory.find_agent(tenant_id="other", job_id="j1") is None
