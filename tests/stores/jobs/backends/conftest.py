"""An agent with a schema `notes`, and the servers in which its records may be."""

import os
import re
import signal
import tempfile
import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
import pytest
import redis
from psycopg import sql

from mnestic.memory.jobs.long_term.backends import BackendRecord, RecordPlace, RemoteBackend
from mnestic.memory.jobs.ports import RecordBackend
from mnestic.memory.ports import Transaction
from mnestic.starter.contract.contracts import ContractsClient
from mnestic.starter.contract.record_backends import OpenBackends
from mnestic.starter.settings import Settings
from mnestic.stores.postgres.memory import PostgresMemory
from tests.redis_server import running_redis

TYPES = {"REMOTE": "postgres", "REDIS": "redis"}
AWAY = {"REDIS": "unix:///away", "REMOTE": "postgresql://nobody@127.0.0.1:1/away"}


@pytest.fixture(scope="session")
def addresses(admin_url: str) -> Iterator[dict[str, str]]:
    """Those of a Redis and of another database, by the variables that contracts name."""
    name = f"remote_{uuid.uuid4().hex[:12]}"
    with (
        tempfile.TemporaryDirectory() as folder,
        running_redis(Path(folder)) as redis,
        psycopg.connect(admin_url, autocommit=True) as owner,
    ):
        owner.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        yield {"REDIS": redis, "REMOTE": re.sub(r"/[^/?]+\?", f"/{name}?", admin_url, count=1)}
        owner.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def redis_processes(address: str) -> list[int]:
    with redis.Redis.from_url(address) as server:
        return [server.info("server")["process_id"]]


def postgres_processes(address: str) -> list[int]:
    """Those that serve the connections that are open."""
    with psycopg.connect(address) as connection:
        rows = connection.execute(
            "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        return [pid for (pid,) in rows]


PROCESSES = {"REMOTE": postgres_processes, "REDIS": redis_processes}


@dataclass
class Notes:
    """Records of the schema `notes` of the agent ada."""

    memory: PostgresMemory
    tenant_id: str
    addresses: dict[str, str]
    environment: dict[str, str]
    others: OpenBackends
    name: str | None = None
    owner: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        self.owner = {"tenant_id": self.tenant_id, "agent_id": "ada"}

    async def put_in(self, name: str | None, **sync: Any) -> None:
        """Applies a contract that names a backend by its variable; None is Mnestic's own database."""
        self.name = name
        backend: dict[str, Any] = {"backend_id": "main", "type": TYPES.get(name or "", "postgres")}
        if name is not None:
            config = {"connection_string": f"${{{name}}}", "table_prefix": "ours_"}
            backend["config"] = config
        schema = {"schema_id": "notes", "backend": "main", "structure": {}}
        long_term = {"storage_backends": [backend], "schemas": [schema], "sync": sync}
        contracts = ContractsClient(
            self.memory, tenant_id=self.tenant_id, environment=self.environment
        )
        await contracts.apply("ada", {"Memory": {"long_term": {"enabled": True, **long_term}}})

    def begin(self, *, write: bool = True) -> AbstractAsyncContextManager[Transaction]:
        return self.memory.transaction(**self.owner, actor="test", write=write)

    async def write(self, value: Any, key: str = "k") -> int:
        """Writes a note, or deletes it if there is no value; returns its version."""
        async with self.begin() as transaction:
            if value is None:
                return (await transaction.records.delete("notes", key)).version
            return (await transaction.records.set("notes", key, value)).version

    async def read(self, key: str = "k", *, write: bool = False) -> tuple[Any, int] | None:
        async with self.begin(write=write) as transaction:
            found = await transaction.records.find("notes", key)
        return None if found is None else (found.value, found.version)

    async def there(self, key: str = "k") -> tuple[Any, int] | None:
        """The value and the version that the backend has of a note."""
        found = await self.stored(key)
        return None if found is None else (found.value, found.version)

    async def stored(self, key: str = "k") -> BackendRecord | None:
        place = RecordPlace(**self.owner, schema_id="notes", key=key)
        if self.name is not None:
            return await (await self.backend()).find(place)
        async with self.begin(write=False) as transaction:
            record = await transaction.records.find("notes", key)
        return record and BackendRecord(**place.model_dump(), **record.model_dump(exclude={"key"}))

    async def backend(self) -> RecordBackend:
        """The backend, for who else writes there."""
        assert self.name is not None
        return await self.others.open(remote(self.name))

    async def flush(self) -> int:
        return await self.memory.flush_records(**self.owner)

    async def list_pending(self) -> list[str]:
        pending = await self.memory.list_pending_agents(tenants=[self.tenant_id])
        return [one.agent_id for one in pending]

    def go_away(self) -> None:
        self.environment.update(AWAY)

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """The backend's processes stand still for a block; the system goes on taking what is sent to them."""
        assert self.name is not None
        stopped = PROCESSES[self.name](self.addresses[self.name])
        for process in stopped:
            os.kill(process, signal.SIGSTOP)
        try:
            yield
        finally:
            for process in stopped:
                os.kill(process, signal.SIGCONT)

    def come_back(self) -> None:
        self.environment.update(self.addresses)


def remote(name: str) -> RemoteBackend:
    return RemoteBackend.model_validate(
        {
            "backend_id": "main",
            "type": TYPES[name],
            "connection_string": f"${{{name}}}",
            "table_prefix": "ours_",
        }
    )


@pytest.fixture
async def notes(settings: Settings, addresses: dict[str, str]) -> AsyncIterator[Notes]:
    assert settings.database_url is not None
    environment, others = addresses.copy(), OpenBackends(addresses)
    memory = PostgresMemory(
        settings.database_url.get_secret_value(), pool_size=5, backends=OpenBackends(environment)
    )
    yield Notes(memory, settings.tenant_id, addresses, environment, others)
    await others.close()
    await memory.close()


@pytest.fixture
def memory(notes: Notes) -> PostgresMemory:
    return notes.memory
