"""An agent's memory in Postgres: the transactions that all stores work in."""

from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import datetime
from typing import Any

from pydantic_core import from_json
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from mnestic.memory.addresses import describe_url
from mnestic.memory.agents import AgentSummary
from mnestic.memory.caches import CACHE_BYTES, CacheCounts, CacheScope, RetrievalCaches
from mnestic.memory.operations import LedgerEntry, Operation
from mnestic.memory.ports import Embedder
from mnestic.memory.scope import EVERY_AGENT
from mnestic.stores.postgres.accesses import AccessCounts
from mnestic.stores.postgres.agent_settings import PostgresSettingStore
from mnestic.stores.postgres.connections import drop_closed, run_together
from mnestic.stores.postgres.entries import PostgresEntryStore
from mnestic.stores.postgres.episodes import PostgresEpisodeStore
from mnestic.stores.postgres.facts import PostgresFactStore
from mnestic.stores.postgres.failures import failures
from mnestic.stores.postgres.forgetting import PostgresForgettingStore
from mnestic.stores.postgres.injections import PostgresInjectionStore
from mnestic.stores.postgres.learning import PostgresLearningStore
from mnestic.stores.postgres.ledger import OPERATION, PostgresLedger
from mnestic.stores.postgres.opening import COMMIT, opening
from mnestic.stores.postgres.pages import check_limit, decode_cursor, encode_cursor
from mnestic.stores.postgres.plans import PostgresPlanStore
from mnestic.stores.postgres.poolers import prepare_unless_pooled
from mnestic.stores.postgres.queries import read_query
from mnestic.stores.postgres.records import PostgresRecordStore
from mnestic.stores.postgres.resources import PostgresResourceStore
from mnestic.stores.postgres.schema import (
    check_version,
    driver_url,
    found_version,
)
from mnestic.stores.postgres.search import PostgresSearchStore
from mnestic.stores.postgres.signals import PostgresSignalStore
from mnestic.stores.postgres.snapshots import PostgresSnapshotStore
from mnestic.stores.postgres.tool_results import PostgresToolResultStore
from mnestic.stores.postgres.unit import Owner, Unit
from mnestic.stores.postgres.usage import PostgresUsageStore
from mnestic.stores.postgres.waits import PostgresWaitStore
from mnestic.stores.postgres.working import PostgresWorkingMemoryStore

_AGENTS = read_query("list_agents")
_WAITING = read_query("list_waiting_agents")


class PostgresTransaction:
    """Implements `mnestic.memory.ports.Transaction`."""

    def __init__(
        self, unit: Unit, caches: RetrievalCaches, *, embedder: Embedder | None = None
    ) -> None:
        self._unit = unit
        self._ledger = PostgresLedger(unit)
        self.working = PostgresWorkingMemoryStore(unit)
        self.records = PostgresRecordStore(unit)
        self.facts = PostgresFactStore(unit)
        self.entries = PostgresEntryStore(unit, embedder)
        self.learning = PostgresLearningStore(unit)
        self.signals = PostgresSignalStore(unit)
        self.episodes = PostgresEpisodeStore(unit)
        self.snapshots = PostgresSnapshotStore(unit)
        self.waits = PostgresWaitStore(unit)
        self.resources = PostgresResourceStore(unit)
        self.plans = PostgresPlanStore(unit)
        self.usage = PostgresUsageStore(unit)
        self.search = PostgresSearchStore(unit)
        self.caches = caches
        self.settings = PostgresSettingStore(unit)
        self.injections = PostgresInjectionStore(unit)
        self.forgetting = PostgresForgettingStore(unit)
        self.tool_results = PostgresToolResultStore(unit)

    def cache_scope(self, database: str) -> CacheScope:
        """See the port."""
        return CacheScope(database, self._unit.tenant_id, self._unit.agent_id)

    async def now(self) -> datetime:
        """See the port."""
        return await self._unit.now()

    async def clock(self) -> datetime:
        """See the port."""
        return await self._unit.clock()

    async def revision(self) -> int:
        """See the port."""
        return await self._unit.revision()

    async def replay(self, operation: Operation, request_hash: str) -> Mapping[str, Any] | None:
        """See the port."""
        return await self._ledger.replay(operation, request_hash)

    async def find_result(
        self, operation: Operation, request_hash: str
    ) -> Mapping[str, Any] | None:
        """See the port."""
        return await self._ledger.find_result(operation, request_hash)

    async def list_operations(
        self, job_id: str, *, limit: int = 100, cursor: str | None = None
    ) -> tuple[tuple[LedgerEntry, ...], str | None]:
        """See the port."""
        return await self._ledger.list_operations(job_id, limit=limit, cursor=cursor)

    def note(self, action: str, target: str, *, reason: str | None = None) -> None:
        """See the port."""
        self._unit.wrote(action, target, reason=reason)

    async def complete(self, operation: Operation, result: Mapping[str, Any]) -> None:
        """See the port."""
        await self._ledger.complete(operation, result)


class PostgresMemory:
    """Implements `mnestic.memory.ports.Memory` over one pool of connections."""

    def __init__(
        self,
        url: str,
        *,
        embedder: Embedder | None = None,
        pool_size: int = 20,
        cache_bytes: int = CACHE_BYTES,
    ) -> None:
        """Prepares the pool; the first transaction connects.

        Args:
            url: `postgresql://…` of a role that is `mnestic_app` or may become it.
            embedder: One that needs no server: entries get its vectors as they are written. Without one
                `IngestMessages` asks for them later.
            pool_size: Connections that are kept; as many again may be opened under load.
            cache_bytes: What answers and vectors of questions may take of this process's memory; 0 keeps none.

        Raises:
            ConfigurationError: the address is malformed.
        """
        self._where = describe_url(url)
        self._engine: AsyncEngine = create_async_engine(
            driver_url(url),
            pool_size=pool_size,
            max_overflow=pool_size,
            pool_timeout=30,
            pool_use_lifo=True,  # the same few connections, which have the statements prepared
            isolation_level="AUTOCOMMIT",  # transactions begin and end by statements of their own
            connect_args={"connect_timeout": 10},
            json_deserializer=from_json,
            hide_parameters=True,  # they hold memory, and its errors are logged and travel
        )
        drop_closed(self._engine)
        prepare_unless_pooled(self._engine)
        self._embedder = embedder
        self._accesses = AccessCounts(self._counting)
        self._caches = RetrievalCaches.of(cache_bytes)

    @asynccontextmanager
    async def transaction(
        self, *, tenant_id: str, agent_id: str, actor: str, write: bool
    ) -> AsyncIterator[PostgresTransaction]:
        """See the port."""
        with failures(where=self._where):
            async with self._engine.connect() as connection:
                unit = Unit(
                    connection, tenant_id=tenant_id, agent_id=agent_id, actor=actor, write=write
                )
                yield PostgresTransaction(unit, self._caches, embedder=self._embedder)
                await unit.finish()

    def count_accesses(self, entry_ids: Collection[str], *, tenant_id: str, agent_id: str) -> None:
        """See the port."""
        self._accesses.add((tenant_id, agent_id), entry_ids)

    def cache_counts(self) -> CacheCounts:
        """See the port."""
        return self._caches.counts()

    def _counting(self, owner: Owner) -> AbstractAsyncContextManager[PostgresTransaction]:
        tenant_id, agent_id = owner
        return self.transaction(
            tenant_id=tenant_id, agent_id=agent_id, actor="retrieval", write=False
        )

    async def find_agent(self, *, tenant_id: str, job_id: str) -> str | None:
        """See the port."""
        owner = select(OPERATION.c.agent_id).where(
            OPERATION.c.tenant_id == tenant_id, OPERATION.c.job_id == job_id
        )
        with failures(where=self._where):
            async with self._engine.connect() as connection:
                await run_together(connection, (), opening=opening(tenant_id, write=False))
                found: str | None = (await connection.execute(owner.limit(1))).scalar_one_or_none()
                await run_together(connection, [COMMIT])
        return found

    async def list_waiting_agents(self, *, tenant_id: str) -> tuple[str, ...]:
        """See the port."""
        with failures(where=self._where):
            async with self._engine.connect() as connection:
                query = _WAITING.bind({"tenant_id": tenant_id})
                rows, _ = await run_together(
                    connection, [query, COMMIT], opening=opening(tenant_id, write=False)
                )
        return tuple(row.agent_id for row in rows)

    async def list_agents(
        self,
        *,
        tenant_id: str,
        agent_id: str | None = None,
        limit: int = 100,
        cursor: str | None = None,
    ) -> tuple[tuple[AgentSummary, ...], str | None]:
        """See the port."""
        (after,) = (None,) if cursor is None else decode_cursor(cursor, parts=1)
        asked = {
            "tenant_id": tenant_id,
            "every_agent": EVERY_AGENT,
            "agent_id": agent_id,
            "after": after,
            "limit": check_limit(limit) + 1,
        }
        with failures(where=self._where):
            async with self._engine.connect() as connection:
                rows, _ = await run_together(
                    connection,
                    [_AGENTS.bind(asked), COMMIT],
                    opening=opening(tenant_id, write=False),
                )
        found = tuple(AgentSummary.model_validate(row._asdict()) for row in rows[:limit])
        return found, encode_cursor(found[-1].agent_id) if len(rows) > limit else None

    async def check(self) -> None:
        """Connects and compares the schema's version with this code's.

        Raises:
            DatabaseUnavailableError: Postgres does not answer.
            SchemaVersionError: the schema is of another version.
            ConfigurationError: the address is of a role that may not run as the application.
        """
        with failures(where=self._where):
            async with self._engine.connect() as connection:
                await run_together(connection, (), opening=opening("", write=False))
                check_version(await connection.run_sync(found_version))
                await run_together(connection, [COMMIT])

    async def close(self) -> None:
        """See the port."""
        try:
            await self._accesses.close()
        finally:
            await self._engine.dispose()
