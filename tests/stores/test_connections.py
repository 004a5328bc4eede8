"""Connections that the server has closed, and what is sent together at a transaction's end."""

import asyncio
import time
import uuid
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import psycopg
import pytest
from psycopg import AsyncPipeline
from psycopg.rows import TupleRow
from sqlalchemy.exc import DataError

from mnestic.activities.overlap import meanwhile
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.operations import Operation
from mnestic.memory.ports import Memory, Transaction
from mnestic.starter.settings import Settings
from mnestic.stores.postgres.connections import commit, read_together
from mnestic.stores.postgres.memory import PostgresMemory

PREPARED = 5  # times that psycopg sends a statement as it is before it has it prepared
Begin = Callable[..., AbstractAsyncContextManager[Transaction]]


async def _set(memory: Memory, tenant_id: str) -> None:
    async with memory.transaction(
        tenant_id=tenant_id, agent_id="anna", actor="test", write=True
    ) as transaction:
        await transaction.records.set("n", "k", 1)


async def test_a_connection_that_the_server_has_closed_is_not_used_again(
    settings: Settings, owner: psycopg.Connection[TupleRow]
) -> None:
    name = f"doomed-{uuid.uuid4().hex}"
    assert settings.database_url is not None
    url = settings.database_url.get_secret_value()
    memory = PostgresMemory(
        f"{url}{'&' if '?' in url else '?'}application_name={name}", pool_size=2
    )
    ended = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = %s"
    for _ in range(2):
        await _set(memory, settings.tenant_id)
        assert owner.execute(ended, [name]).fetchall() == [(True,)]
        while owner.execute(ended.replace("pg_terminate_backend(pid)", "pid"), [name]).fetchall():
            owner.commit()

    await _set(memory, settings.tenant_id)
    await memory.close()


async def test_a_connection_that_was_left_within_a_pipeline_is_not_used_again(
    settings: Settings,
) -> None:
    assert settings.database_url is not None
    memory = PostgresMemory(settings.database_url.get_secret_value(), pool_size=1)
    await _set(memory, settings.tenant_id)
    async with memory._engine.connect() as connection:
        driver = (await connection.get_raw_connection()).driver_connection
        assert driver is not None
        pipeline = driver.pipeline()  # nothing ends it, as nothing has it go
        await pipeline.__aenter__()
    await _set(memory, settings.tenant_id)

    async with memory._engine.connect() as connection:
        raw = await connection.get_raw_connection()
        assert raw.driver_connection is not driver
        assert driver.closed
    await memory.close()


async def test_what_is_read_together_is_sent_together(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A driver that does so by other means than ours would send each statement by itself, and nobody would see it."""
    sent, communicate = [], AsyncPipeline._communicate_gen

    def noted(pipeline: AsyncPipeline) -> Any:
        sent.append(len(pipeline.command_queue))
        return communicate(pipeline)

    monkeypatch.setattr(AsyncPipeline, "_communicate_gen", noted)
    assert settings.database_url is not None
    memory = PostgresMemory(settings.database_url.get_secret_value(), pool_size=1)
    async with memory._engine.connect() as connection:
        ones = [(f"SELECT {number} AS one", dict[str, Any]()) for number in range(5)]
        rows = await read_together(connection, ones)
    await memory.close()

    assert [row.one for (row,) in rows] == [0, 1, 2, 3, 4]
    assert len(sent) == 1  # at the end


async def test_what_is_asked_has_been_sent_when_the_work_begins_that_is_done_meanwhile(
    settings: Settings, owner: psycopg.Connection[TupleRow]
) -> None:
    assert settings.database_url is not None
    memory = PostgresMemory(settings.database_url.get_secret_value(), pool_size=1)
    lock = uuid.uuid4().int % 2**31
    locking = [(f"SELECT pg_advisory_xact_lock({lock})", dict[str, Any]())] * 2

    def is_locked() -> bool:
        end = time.monotonic() + 10
        while time.monotonic() < end:
            if owner.execute("SELECT FROM pg_locks WHERE objid = %s", [lock]).fetchall():
                return True
        return False

    async with memory._engine.connect() as connection:
        await read_together(connection, [("SELECT 1 AS one", {})])
        await commit(connection)
        begun = time.monotonic()
        while time.monotonic() < begun + 0.02:
            pass  # the driver gives others a turn, where they had none for so long
        rows, was_locked = await meanwhile(read_together(connection, locking), is_locked)
    await memory.close()

    assert was_locked
    assert len(rows) == 2


async def test_a_transaction_that_is_read_together_begins_once(settings: Settings) -> None:
    """Psycopg begins one before each statement until it has seen that one has begun."""
    assert settings.database_url is not None
    memory = PostgresMemory(settings.database_url.get_secret_value(), pool_size=1)
    said: list[str | None] = []
    async with memory._engine.connect() as connection:
        driver = (await connection.get_raw_connection()).driver_connection
        assert driver is not None
        driver.add_notice_handler(lambda notice: said.append(notice.message_primary))
    for agent in ("ada", "bea"):
        async with memory.transaction(
            tenant_id=settings.tenant_id, agent_id=agent, actor="test", write=False
        ) as transaction:
            await transaction.search.recognise(["mara"], ["ferry"], model="")
    await memory.close()

    assert not said


async def test_of_what_is_read_together_the_first_failure_is_told(settings: Settings) -> None:
    assert settings.database_url is not None
    memory = PostgresMemory(settings.database_url.get_secret_value(), pool_size=1)
    one: tuple[str, dict[str, Any]] = ("SELECT 1 AS one", {})
    refused = (
        "SELECT CAST(%(numbers)s AS bigint[]) AS numbers",
        {"numbers": "{99999999999999999999}"},
    )
    for _ in range(50):
        async with memory._engine.connect() as connection:
            with pytest.raises(DataError):
                await read_together(connection, [one, refused, one])
    async with memory._engine.connect() as connection:
        ((row,),) = await read_together(connection, [one])
    await memory.close()

    assert row.one == 1


@pytest.mark.parametrize("before", [PREPARED - 1, PREPARED])
async def test_who_gives_up_leaves_a_connection_that_others_can_use(
    settings: Settings, before: int
) -> None:
    assert settings.database_url is not None
    url = settings.database_url.get_secret_value()

    async def ask(memory: PostgresMemory) -> None:
        async with memory.transaction(
            tenant_id=settings.tenant_id, agent_id="ada", actor="test", write=False
        ) as transaction:
            await transaction.search.recognise(["mara"], ["ferry"], model="")

    for turns in range(12):
        memory = PostgresMemory(url, pool_size=1)
        for _ in range(before):
            await ask(memory)
        asking = asyncio.create_task(ask(memory))  # by which statements are prepared
        for _ in range(turns):
            await asyncio.sleep(0)
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        for _ in range(3):
            await ask(memory)
        await memory.close()


async def test_what_fails_at_the_end_undoes_the_whole_transaction(
    begin: Begin, count: Callable[[str], int]
) -> None:
    operation = Operation(key="k1", name="set")

    async def work() -> None:
        async with begin() as transaction:
            await transaction.replay(operation, "h")
            await transaction.records.set("n", "k", 1)
            await transaction.complete(operation, {"told": "\x00"})

    with pytest.raises(InvalidInputError):
        await work()

    assert [count(table) for table in ("operation", "long_term_record", "audit_log")] == [0, 0, 0]
    async with begin() as transaction:
        await transaction.records.set("n", "k", 1)
    assert count("long_term_record") == 1


@pytest.mark.parametrize("megabytes", [1, 3, 8])
async def test_what_is_too_large_to_be_sent_at_once_is_sent_whole(
    memory: Memory, settings: Settings, megabytes: int
) -> None:
    text = "x" * (megabytes << 20)
    asked = {"tenant_id": settings.tenant_id, "agent_id": "anna", "actor": "test"}

    for key in "abc":
        async with (
            asyncio.timeout(20),  # it waited for ever
            memory.transaction(**asked, write=True) as transaction,
        ):
            operation = Operation(key=key, name="large")
            await transaction.replay(operation, "hash")
            await transaction.complete(operation, {"text": text})
    async with asyncio.timeout(20), memory.transaction(**asked, write=False) as transaction:
        found, _ = await transaction.facts.list_facts(subject=text)

    assert found == ()
