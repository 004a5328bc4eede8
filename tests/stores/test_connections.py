"""Connections that the server has closed, and what is sent together at a transaction's end."""

import asyncio
import uuid
from collections.abc import AsyncIterator, Callable

import psycopg
import pytest
from psycopg import DataError
from psycopg.pq import TransactionStatus
from psycopg.rows import TupleRow

from mnestic.memory.errors import InvalidInputError, InvariantError
from mnestic.memory.operations import Operation
from mnestic.memory.ports import Memory
from mnestic.starter.settings import Settings
from mnestic.stores.postgres.connections import Query, run_together
from mnestic.stores.postgres.memory import PostgresMemory
from mnestic.stores.postgres.transaction_setup import COMMIT
from tests.stores.search_samples import terms_of
from tests.transactions import Begin
from tests.wire import counting

TERMS = terms_of("ferry", keys=["mara"])


@pytest.fixture
async def single(application_url: str) -> AsyncIterator[PostgresMemory]:
    """Memory by one connection."""
    memory = PostgresMemory(application_url, pool_size=1)
    yield memory
    await memory.close()


async def _set(memory: Memory, tenant_id: str) -> None:
    async with memory.transaction(
        tenant_id=tenant_id, agent_id="anna", actor="test", write=True
    ) as transaction:
        await transaction.records.set("n", "k", 1)


async def test_a_connection_that_the_server_has_closed_is_not_used_again(
    settings: Settings, owner: psycopg.Connection[TupleRow], application_url: str
) -> None:
    name = f"doomed-{uuid.uuid4().hex}"
    memory = PostgresMemory(
        f"{application_url}{'&' if '?' in application_url else '?'}application_name={name}",
        pool_size=2,
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
    single: PostgresMemory,
    settings: Settings,
) -> None:
    await _set(single, settings.tenant_id)
    async with single.pool.connect() as connection:
        pipeline = connection.pipeline()  # nothing ends it, as nothing has it go
        await pipeline.__aenter__()
    await _set(single, settings.tenant_id)

    async with single.pool.connect() as another:
        assert another is not connection
        assert connection.closed


async def test_statements_that_run_together_are_waited_for_once(admin_url: str) -> None:
    """Another version of the driver could wait for each statement, and nobody would see it."""
    ones: list[Query] = [(f"SELECT {number} AS one", ()) for number in range(5)]
    async with counting(admin_url.replace("postgres@", "mnestic_app@")) as wire:
        memory = PostgresMemory(wire.url, pool_size=1)
        async with memory.pool.connect() as connection:
            await run_together(connection, ones[:1])
            before = wire.round_trips
            rows = await run_together(connection, ones)
            waited = wire.round_trips - before
        await memory.close()

    assert [row.one for (row,) in rows] == [0, 1, 2, 3, 4]
    assert waited == 1


async def test_a_statement_without_rows_has_none_among_those_that_have(
    single: PostgresMemory,
) -> None:
    async with single.pool.connect() as connection:
        begun, (row,), ended = await run_together(
            connection, [("BEGIN", ()), ("SELECT $1 AS one", ["x"]), ("COMMIT", ())]
        )

    assert (begun, row.one, ended) == ([], "x", [])


@pytest.mark.parametrize("write", [False, True])
async def test_a_transaction_begins_and_ends_once(
    single: PostgresMemory, settings: Settings, write: bool
) -> None:
    """Postgres warns of a second BEGIN and of a COMMIT without one, and goes on."""
    warned: list[str | None] = []
    async with single.pool.connect() as connection:
        connection.add_notice_handler(lambda notice: warned.append(notice.message_primary))
    for agent in ("ada", "bea"):
        async with single.transaction(
            tenant_id=settings.tenant_id, agent_id=agent, actor="test", write=write
        ) as transaction:
            began = await transaction.now()
            await transaction.search.resolve(TERMS, model="")
            if write:
                await transaction.records.set("n", "k", 1)
            assert await transaction.now() == began
    async with single.pool.connect() as ended:
        assert ended is connection
        assert ended.info.transaction_status == TransactionStatus.IDLE

    assert not warned


@pytest.mark.parametrize("why", [ValueError, asyncio.CancelledError])
async def test_a_transaction_that_is_left_is_undone_before_the_next_one_begins(
    single: PostgresMemory,
    settings: Settings,
    count: Callable[[str], int],
    why: type[BaseException],
) -> None:

    async def leave() -> None:
        async with single.transaction(
            tenant_id=settings.tenant_id, agent_id="anna", actor="test", write=True
        ) as transaction:
            await transaction.records.set("n", "left", 1)
            raise why

    with pytest.raises(why):
        await leave()
    await _set(single, settings.tenant_id)

    assert count("long_term_record") == 1


async def test_of_what_runs_together_the_first_failure_is_told(single: PostgresMemory) -> None:
    one: Query = ("SELECT 1 AS one", ())
    refused: Query = ("SELECT CAST($1 AS bigint[]) AS numbers", ["{99999999999999999999}"])
    for _ in range(50):
        async with single.pool.connect() as connection:
            with pytest.raises(DataError):
                await run_together(connection, [one, refused, one])
    async with single.pool.connect() as connection:
        ((row,),) = await run_together(connection, [one])

    assert row.one == 1


@pytest.mark.parametrize("before", [0, 1])  # times that its statements were prepared
async def test_who_gives_up_leaves_a_connection_that_others_can_use(
    settings: Settings, before: int, application_url: str
) -> None:

    async def ask(memory: PostgresMemory) -> None:
        async with memory.transaction(
            tenant_id=settings.tenant_id, agent_id="ada", actor="test", write=False
        ) as transaction:
            await transaction.search.resolve(TERMS, model="")

    for turns in range(16):
        memory = PostgresMemory(application_url, pool_size=1)
        for _ in range(before):
            await ask(memory)
        asking = asyncio.create_task(ask(memory))
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

    assert [count(table) for table in ("operation", "long_term_record", "audit_log")] == [0, 0, 1]
    async with begin() as transaction:
        await transaction.records.set("n", "k", 1)
    assert count("long_term_record") == 1


async def test_a_commit_that_postgres_answers_by_undoing_the_transaction_raises(
    single: PostgresMemory,
) -> None:
    async with single.pool.connect() as connection:
        await run_together(connection, [("BEGIN", ())])
        with pytest.raises(DataError):
            await run_together(connection, [("SELECT CAST($1 AS integer) AS one", ["no number"])])
        with pytest.raises(InvariantError, match="answered ROLLBACK to COMMIT"):
            await run_together(connection, [COMMIT])


async def test_what_is_too_large_to_be_sent_at_once_is_sent_whole(
    memory: Memory, settings: Settings
) -> None:
    text = "x" * (8 << 20)
    asked = {"tenant_id": settings.tenant_id, "agent_id": "anna", "actor": "test"}

    for key in "ab":
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
