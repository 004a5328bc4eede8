"""An agent's memory in Postgres: the transactions that all stores work in."""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pydantic_core import from_json
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from mnestic.memory import store_ports
from mnestic.memory.addresses import describe_url
from mnestic.memory.agents import AgentSummary
from mnestic.memory.forgetting.export_ports import ExportStore
from mnestic.memory.forgetting.ports import ForgettingStore, KeepOutStore
from mnestic.memory.knowledge import ports as knowledge
from mnestic.memory.knowledge.world.categories import CategoryStore
from mnestic.memory.knowledge.world.period_summaries import PeriodSummaryStore
from mnestic.memory.maintenance.ports import MaintenanceReportStore, MaintenanceStore
from mnestic.memory.operations import LedgerEntry, Operation
from mnestic.memory.ports import Embedder
from mnestic.memory.retrieval.caches import CACHE_BYTES, CacheCounts, CacheScope, RetrievalCaches
from mnestic.memory.retrieval.ports import RetrievalLogStore, SettingStore
from mnestic.memory.scope import EVERY_AGENT
from mnestic.stores.postgres.connections import drop_closed, run_together
from mnestic.stores.postgres.cursors import check_limit, decode_cursor, encode_cursor
from mnestic.stores.postgres.failures import failures
from mnestic.stores.postgres.knowledge.accesses import AccessCounts, PostgresAccessStore
from mnestic.stores.postgres.poolers import prepare_unless_pooled
from mnestic.stores.postgres.queries import NamedQuery, read_query
from mnestic.stores.postgres.reals import send_reals
from mnestic.stores.postgres.retrieval.search import PostgresSearchStore
from mnestic.stores.postgres.schema import check_version, driver_url, schema_version_of
from mnestic.stores.postgres.transaction_setup import COMMIT, begin_statements
from mnestic.stores.postgres.unit_of_work import Owner, UnitOfWork

if TYPE_CHECKING:  # a tenth of a second, which only who needs a table pays
    from mnestic.memory.forgetting.keep_outs import KeepOutSecrets
    from mnestic.stores.postgres.table_stores import TableStores

_JOBS_NAMED = NamedQuery.of("""
SELECT DISTINCT job_id FROM mnestic.operation
 WHERE tenant_id = %(tenant_id)s AND starts_with(job_id, %(prefix)s) ORDER BY job_id LIMIT %(limit)s
""")
_AGENT_OF_JOB = NamedQuery.of("""
SELECT agent_id FROM mnestic.operation WHERE tenant_id = %(tenant_id)s AND job_id = %(job_id)s LIMIT 1
""")
_AGENT_IDS = NamedQuery.of("""
SELECT agent_id FROM mnestic.agent_revision
 WHERE tenant_id = %(tenant_id)s AND agent_id <> %(every_agent)s
   AND (CAST(%(after)s AS text) IS NULL OR agent_id > %(after)s)
 ORDER BY agent_id LIMIT %(limit)s
""")
_AGENTS = read_query("list_agents")
_WAITING = read_query("list_waiting_agents")


class PostgresTransaction:
    """Implements `mnestic.memory.ports.Transaction`."""

    def __init__(
        self,
        unit: UnitOfWork,
        caches: RetrievalCaches,
        *,
        embedder: Embedder | None = None,
        secrets: "KeepOutSecrets | None" = None,
    ) -> None:
        self.unit = unit
        self._embedder, self._secrets = embedder, secrets
        self.search = PostgresSearchStore(unit)
        self.accesses = PostgresAccessStore(unit)
        self.caches = caches

    @cached_property
    def _stores(self) -> "TableStores":
        from mnestic.stores.postgres.table_stores import (  # noqa: PLC0415 - who only searches needs no table
            TableStores,
        )

        return TableStores(self.unit, self._embedder, self._secrets)

    @property
    def working(self) -> store_ports.WorkingMemoryStore:
        """See the port."""
        return self._stores.working

    @property
    def records(self) -> store_ports.RecordStore:
        """See the port."""
        return self._stores.records

    @property
    def facts(self) -> knowledge.FactStore:
        """See the port."""
        return self._stores.facts

    @property
    def entries(self) -> knowledge.EntryStore:
        """See the port."""
        return self._stores.entries

    @property
    def archive(self) -> knowledge.ArchiveStore:
        """See the port."""
        return self._stores.archive

    @property
    def ingest_states(self) -> knowledge.IngestStateStore:
        """See the port."""
        return self._stores.ingest_states

    @property
    def events(self) -> knowledge.EventStore:
        """See the port."""
        return self._stores.events

    @property
    def episodes(self) -> store_ports.EpisodeStore:
        """See the port."""
        return self._stores.episodes

    @property
    def snapshots(self) -> store_ports.SnapshotStore:
        """See the port."""
        return self._stores.snapshots

    @property
    def waits(self) -> store_ports.WaitStore:
        """See the port."""
        return self._stores.waits

    @property
    def resources(self) -> store_ports.ResourceStore:
        """See the port."""
        return self._stores.resources

    @property
    def plans(self) -> store_ports.PlanStore:
        """See the port."""
        return self._stores.plans

    @property
    def usage(self) -> store_ports.UsageStore:
        """See the port."""
        return self._stores.usage

    @property
    def settings(self) -> SettingStore:
        """See the port."""
        return self._stores.settings

    @property
    def retrieval_log(self) -> RetrievalLogStore:
        """See the port."""
        return self._stores.retrieval_log

    @property
    def forgetting(self) -> ForgettingStore:
        """See the port."""
        return self._stores.forgetting

    @property
    def keep_outs(self) -> KeepOutStore:
        """See the port."""
        return self._stores.keep_outs

    @property
    def exports(self) -> ExportStore:
        """See the port."""
        return self._stores.exports

    @property
    def tool_results(self) -> store_ports.ToolResultStore:
        """See the port."""
        return self._stores.tool_results

    @property
    def categories(self) -> CategoryStore:
        """See the port."""
        return self._stores.categories

    @property
    def summaries(self) -> PeriodSummaryStore:
        """See the port."""
        return self._stores.summaries

    @property
    def maintenance(self) -> MaintenanceStore:
        """See the port."""
        return self._stores.maintenance

    @property
    def maintenance_reports(self) -> MaintenanceReportStore:
        """See the port."""
        return self._stores.maintenance_reports

    def cache_scope(self, database: str) -> CacheScope:
        """See the port."""
        return CacheScope(database, self.unit.tenant_id, self.unit.agent_id)

    async def now(self) -> datetime:
        """See the port."""
        return await self.unit.now()

    async def clock(self) -> datetime:
        """See the port."""
        return await self.unit.clock()

    async def revision(self) -> int:
        """See the port."""
        return await self.unit.revision()

    async def replay(self, operation: Operation, request_hash: str) -> Mapping[str, Any] | None:
        """See the port."""
        return await self._stores.ledger.replay(operation, request_hash)

    async def find_result(
        self, operation: Operation, request_hash: str
    ) -> Mapping[str, Any] | None:
        """See the port."""
        return await self._stores.ledger.find_result(operation, request_hash)

    async def list_operations(
        self, job_id: str, *, limit: int = 100, cursor: str | None = None
    ) -> tuple[tuple[LedgerEntry, ...], str | None]:
        """See the port."""
        return await self._stores.ledger.list_operations(job_id, limit=limit, cursor=cursor)

    def note(self, action: str, target: str, *, reason: str | None = None) -> None:
        """See the port."""
        self.unit.wrote(action, target, reason=reason)

    def discard(self) -> None:
        """See the port."""
        self.unit.discard()

    async def complete(self, operation: Operation, result: Mapping[str, Any]) -> None:
        """See the port."""
        await self._stores.ledger.complete(operation, result)


class PostgresMemory:
    """Implements `mnestic.memory.ports.Memory` over one pool of connections."""

    def __init__(
        self,
        url: str,
        *,
        embedder: Embedder | None = None,
        pool_size: int = 20,
        cache_bytes: int = CACHE_BYTES,
        keep_out_secrets: "KeepOutSecrets | None" = None,
    ) -> None:
        """Prepares the pool; the first transaction connects.

        Args:
            url: `postgresql://…` of a role that is `mnestic_app` or may become it.
            embedder: One that needs no server: entries get its vectors as they are written. Without one
                `IngestMessages` asks for them later.
            pool_size: Connections that stay open; as many again may be opened under load.
            cache_bytes: What answers and vectors of questions may take of this process's memory; 0 keeps none.
            keep_out_secrets: Where the secret of keep-outs is; without it an agent that has some learns nothing.

        Raises:
            ConfigurationError: the address is malformed.
        """
        self._where = describe_url(url)
        self.engine: AsyncEngine = create_async_engine(
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
        drop_closed(self.engine)
        prepare_unless_pooled(self.engine)
        send_reals(self.engine)
        self._embedder, self._secrets = embedder, keep_out_secrets
        self._accesses = AccessCounts(self._counting)
        self._caches = RetrievalCaches.of(cache_bytes)

    @asynccontextmanager
    async def transaction(
        self, *, tenant_id: str, agent_id: str, actor: str, write: bool, consistent: bool = False
    ) -> AsyncIterator[PostgresTransaction]:
        """See the port."""
        with failures(where=self._where):
            async with self.engine.connect() as connection:
                unit = UnitOfWork(
                    connection,
                    tenant_id=tenant_id,
                    agent_id=agent_id,
                    actor=actor,
                    write=write,
                    consistent=consistent,
                )
                yield PostgresTransaction(
                    unit, self._caches, embedder=self._embedder, secrets=self._secrets
                )
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
        rows = await self._rows(_AGENT_OF_JOB, tenant_id=tenant_id, job_id=job_id)
        return rows[0].agent_id if rows else None

    async def list_job_ids(self, prefix: str, *, tenant_id: str, limit: int) -> tuple[str, ...]:
        """See the port."""
        rows = await self._rows(_JOBS_NAMED, tenant_id=tenant_id, prefix=prefix, limit=limit)
        return tuple(row.job_id for row in rows)

    async def list_waiting_agents(self, *, tenant_id: str) -> tuple[str, ...]:
        """See the port."""
        return tuple(row.agent_id for row in await self._rows(_WAITING, tenant_id=tenant_id))

    async def list_agent_ids(
        self, *, tenant_id: str, after: str | None, limit: int
    ) -> tuple[str, ...]:
        """See the port."""
        rows = await self._rows(
            _AGENT_IDS, tenant_id=tenant_id, every_agent=EVERY_AGENT, after=after, limit=limit
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
        rows = await self._rows(
            _AGENTS,
            tenant_id=tenant_id,
            every_agent=EVERY_AGENT,
            agent_id=agent_id,
            after=after,
            limit=check_limit(limit) + 1,
        )
        found = tuple(AgentSummary.model_validate(row._asdict()) for row in rows[:limit])
        return found, encode_cursor(found[-1].agent_id) if len(rows) > limit else None

    async def _rows(self, query: NamedQuery, *, tenant_id: str, **values: Any) -> Sequence[Any]:
        """The rows of a query about a whole tenant."""
        bound = query.bind({"tenant_id": tenant_id, **values})
        with failures(where=self._where):
            async with self.engine.connect() as connection:
                rows, _ = await run_together(
                    connection, [bound, COMMIT], opening=begin_statements(tenant_id, write=False)
                )
        return rows

    async def check(self) -> None:
        """Connects and compares the schema's version with this code's.

        Raises:
            DatabaseUnavailableError: Postgres does not answer.
            SchemaVersionError: the schema is of another version.
            ConfigurationError: the address is of a role that may not run as the application.
        """
        with failures(where=self._where):
            async with self.engine.connect() as connection:
                await run_together(connection, (), opening=begin_statements("", write=False))
                check_version(await connection.run_sync(schema_version_of))
                await run_together(connection, [COMMIT])

    async def close(self) -> None:
        """See the port."""
        try:
            await self._accesses.close()
        finally:
            await self.engine.dispose()
