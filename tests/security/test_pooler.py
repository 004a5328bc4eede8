"""Behind PgBouncer in transaction mode all works as without: no session is one's own from one transaction to the next."""

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from pathlib import Path
from typing import Any

import psycopg
import pytest
from pydantic import SecretStr

from mnestic.memory.errors import ConfigurationError, DatabaseUnavailableError
from mnestic.starter.health.checkup import check_all
from mnestic.starter.settings import Settings
from mnestic.stores.postgres.memory import PostgresMemory
from mnestic.stores.postgres.queries import NamedQuery
from mnestic.stores.postgres.retrieval.vector_indexes import index_vectors
from mnestic.stores.postgres.schema import SCHEMA_VERSION, migrate
from mnestic.stores.postgres.transaction import PostgresTransaction
from tests.pooler import find_pgbouncer, running_pooler, through

_CLIENTS, _CALLS = 8, 20
_SERVER_CONNECTIONS = 2  # for all clients


@pytest.fixture(scope="module")
def pooler(admin_url: str) -> Iterator[Path]:
    """A pooler with two connections to the server for all clients."""
    if find_pgbouncer() is None:
        pytest.skip("pgbouncer is not installed; `make pooler`, which .ci/run calls, asks for it")
    with running_pooler(admin_url, size=_SERVER_CONNECTIONS) as folder:
        yield folder


@pytest.fixture
async def pooled(pooler: Path, application_url: str) -> AsyncIterator[PostgresMemory]:
    """Memory that is reached through the pooler."""
    memory = PostgresMemory(through(pooler, application_url), pool_size=5)
    yield memory
    await memory.close()


def begin(
    memory: PostgresMemory, tenant_id: str, agent_id: str = "ada", *, write: bool = True
) -> AbstractAsyncContextManager[PostgresTransaction]:
    return memory.transaction(tenant_id=tenant_id, agent_id=agent_id, actor="test", write=write)


async def test_no_call_fails_though_clients_share_connections(
    pooled: PostgresMemory, settings: Settings
) -> None:
    async def work(client: int) -> None:
        for number in range(_CALLS):
            async with begin(pooled, settings.tenant_id, f"a{client}") as transaction:
                await transaction.records.set("n", f"k{number}", number)
            async with begin(pooled, settings.tenant_id, f"a{client}", write=False) as transaction:
                assert (await transaction.records.get("n", f"k{number}")).value == number

    ended = await asyncio.gather(*map(work, range(_CLIENTS)), return_exceptions=True)

    assert [one for one in ended if one is not None] == []


async def test_a_session_keeps_neither_role_nor_tenant(
    pooled: PostgresMemory, pooler: Path, settings: Settings, application_url: str
) -> None:
    url = through(pooler, application_url)

    async def write(tenant: str) -> None:
        async with begin(pooled, tenant) as transaction:
            await transaction.records.set("n", "k", 1)

    await asyncio.gather(*(write(f"{settings.tenant_id}-{number}") for number in range(8)))
    await pooled.close()  # PgBouncer 1.18 may leave a session with a client that has committed
    left = []
    async with AsyncExitStack() as sessions:
        for _ in range(_SERVER_CONNECTIONS):  # each in a transaction, so all of them
            driver = await psycopg.AsyncConnection.connect(url)
            await sessions.enter_async_context(driver)
            asked = "SELECT pg_backend_pid(), current_setting('mnestic.tenant_id', true)"
            left.append(await (await driver.execute(asked)).fetchone())

    assert len({row[0] for row in left if row}) == _SERVER_CONNECTIONS
    assert {row[1] for row in left if row} <= {None, ""}


async def test_a_server_connection_that_breaks_is_unavailable_for_a_retry(
    pooled: PostgresMemory, settings: Settings, admin_url: str
) -> None:
    async def break_it() -> None:
        async with begin(pooled, settings.tenant_id) as transaction:
            made: Any = transaction
            (pid,) = await made.unit.fetch_one(NamedQuery.of("SELECT pg_backend_pid()"))
            async with await psycopg.AsyncConnection.connect(admin_url) as owner:
                await owner.execute("SELECT pg_terminate_backend(%s, 10000)", [pid])
            await transaction.records.set("n", "k", 1)

    with pytest.raises(DatabaseUnavailableError):
        await break_it()

    async with begin(pooled, settings.tenant_id) as transaction:
        assert (await transaction.records.set("n", "k", 1)).version == 1


async def test_only_behind_a_pooler_no_statements_are_prepared(
    pooled: PostgresMemory, memory: PostgresMemory
) -> None:
    expected = [(pooled, None), (memory, None if "MNESTIC_TEST_POOLER" in os.environ else 5)]
    for each, threshold in expected:
        async with each.pool.connect() as connection:
            assert connection.prepare_threshold == threshold


async def test_migrations_run_through_a_pooler(pooler: Path, admin_url: str) -> None:
    for _ in range(3):
        assert await asyncio.to_thread(migrate, through(pooler, admin_url)) == SCHEMA_VERSION


def test_an_index_is_not_built_through_a_pooler(pooler: Path, admin_url: str) -> None:
    with pytest.raises(ConfigurationError, match=r"MNESTIC_DATABASE_ADMIN_URL.*pooler"):
        index_vectors(through(pooler, admin_url), "t")

    assert index_vectors(admin_url, "t").built == ()


async def test_doctor_says_that_a_pooler_is_in_between(
    pooler: Path, settings: Settings, application_url: str
) -> None:
    url = through(pooler, application_url)

    findings = await check_all(settings.model_copy(update={"database_url": SecretStr(url)}))

    (server,) = [one for one in findings if one.part == "Postgres"]
    assert server.ok
    assert "behind a connection pooler" in server.found
