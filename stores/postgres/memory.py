"""An agent's memory in Postgres: the transactions that all stores work in."""

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING, Any

from psycopg import AsyncConnection

from mnestic.memory.addresses import describe_url
from mnestic.memory.agents import AgentSummary, WaitingAgent
from mnestic.memory.errors import RefusedError
from mnestic.memory.jobs.ports import RecordBackends
from mnestic.memory.ports import Embedder
from mnestic.memory.retrieval.caches import CACHE_BYTES, CacheCounts, RetrievalCaches
from mnestic.memory.scope import EVERY_AGENT
from mnestic.stores.postgres.connections import run_together
from mnestic.stores.postgres.cursors import check_limit, decode_cursor, encode_cursor
from mnestic.stores.postgres.failures import failures
from mnestic.stores.postgres.jobs.record_sync import RecordSync
from mnestic.stores.postgres.knowledge.accesses import AccessCounts
from mnestic.stores.postgres.listening import listening
from mnestic.stores.postgres.pool import Pool
from mnestic.stores.postgres.queries import NamedQuery, read_query
from mnestic.stores.postgres.schema import FIND_TABLE, FIND_VERSION, check_version
from mnestic.stores.postgres.transaction import PostgresTransaction
from mnestic.stores.postgres.transaction_setup import COMMIT, begin_statements
from mnestic.stores.postgres.unit_of_work import Owner, UnitOfWork

if TYPE_CHECKING:  # a tenth of a second, which only who needs a table pays
    from mnestic.memory.forgetting.suppression_list import SuppressionSecrets

_FIND_AGENT, _LIST_JOB_IDS = read_query("memory.find_agent"), read_query("memory.list_job_ids")
_LIST_AGENT_IDS, _LIST_AGENTS = read_query("memory.list_agent_ids"), read_query("list_agents")
_LIST_WAITING = read_query("memory.list_waiting_agents")
_LIST_PENDING = read_query("memory.list_pending_agents")
_LIST_WITH_MET_WAITS = read_query("memory.list_agents_with_met_waits")


class PostgresMemory:
    """Implements `mnestic.memory.ports.Memory` over one pool of connections."""

    def __init__(
        self,
        url: str,
        *,
        embedder: Embedder | None = None,
        pool_size: int = 20,
        cache_bytes: int = CACHE_BYTES,
        suppression_secrets: "SuppressionSecrets | None" = None,
        shared_pool: Pool | None = None,
        backends: RecordBackends | None = None,
    ) -> None:
        """Prepares the pool; the first transaction connects.

        Args:
            url: `postgresql://…` of a role that is `mnestic_app` or may become it.
            embedder: One that needs no server: entries get its vectors as they are written. Without one
                `IngestMessages` asks for them later.
            pool_size: Connections that stay open; as many again may be opened under load.
            cache_bytes: What answers and vectors of questions may take of this process's memory; 0 keeps none.
            suppression_secrets: Where the secret of keep-outs is; without it an agent that has some learns nothing.
            shared_pool: Connections to the same address, to use instead of a pool of its own; whoever opened it closes it.
            backends: Those that contracts name, which it closes; without them their records wait in this database.

        Raises:
            ConfigurationError: the address is malformed.
        """
        self._url, self._where = url, describe_url(url)
        self._is_shared = shared_pool is not None
        self.pool = shared_pool or Pool(url, size=pool_size)
        self._embedder, self._secrets = embedder, suppression_secrets
        self._accesses = AccessCounts(self._counting)
        self._caches = RetrievalCaches.of(cache_bytes)
        self._sync_pool = None if backends is None else Pool(url, size=2)
        self._sync = None if backends is None else RecordSync(backends, self._syncing)
        self._refresh = None if self._sync is None else self._sync.refresh

    @asynccontextmanager
    async def transaction(
        self,
        *,
        tenant_id: str,
        agent_id: str,
        actor: str,
        write: bool,
        consistent: bool = False,
        reader: str | None = None,
    ) -> AsyncIterator[PostgresTransaction]:
        """See the port."""
        owner: Any = {"tenant_id": tenant_id, "agent_id": agent_id, "actor": actor}
        with failures(where=self._where):
            async with self.pool.connect() as connection:
                unit = UnitOfWork(
                    connection,
                    **owner,
                    write=write,
                    consistent=consistent,
                    refresh=self._refresh,
                    reader=reader,
                )
                refusal: RefusedError | None = None
                try:
                    yield PostgresTransaction(
                        unit, self._caches, embedder=self._embedder, secrets=self._secrets
                    )
                    await unit.finish()
                except RefusedError as error:
                    refusal = error
            if refusal is not None:  # the transaction is undone; its audit rows are not
                async with self.pool.connect() as connection:
                    after = UnitOfWork(connection, **owner, write=False)
                    await after.note_refused(unit, refusal)
                raise refusal
        if self._sync is not None:
            for backend, events in unit.announced:  # a flush that fails keeps none of them back
                await self._sync.announce(tenant_id, backend, events)
        if self._sync is not None and (unit.flushed_schemas or unit.is_replay):
            schemas = None if unit.is_replay else unit.flushed_schemas
            await self._sync.flush((tenant_id, agent_id), schemas=schemas, at_once=True)

    @asynccontextmanager
    async def _syncing(self, owner: Owner) -> AsyncIterator[UnitOfWork]:
        """A transaction that goes on while a backend is written, on a connection that nobody else waits for."""
        assert self._sync_pool is not None
        with failures(where=self._where):
            async with self._sync_pool.connect() as connection:
                unit = UnitOfWork(
                    connection, tenant_id=owner[0], agent_id=owner[1], actor="records", write=True
                )
                yield unit
                await unit.finish()

    async def flush_records(self, *, tenant_id: str, agent_id: str) -> int:
        """See the port."""
        return 0 if self._sync is None else await self._sync.flush((tenant_id, agent_id))

    def count_accesses(self, entry_ids: Collection[str], *, tenant_id: str, agent_id: str) -> None:
        """See the port."""
        self._accesses.add((tenant_id, agent_id), entry_ids)

    def cache_counts(self, tenant_id: str | None = None) -> CacheCounts:
        """See the port."""
        return self._caches.counts(tenant_id)

    def _counting(self, owner: Owner) -> AbstractAsyncContextManager[PostgresTransaction]:
        tenant_id, agent_id = owner
        return self.transaction(
            tenant_id=tenant_id, agent_id=agent_id, actor="retrieval", write=False
        )

    async def find_agent(self, *, tenant_id: str, job_id: str) -> str | None:
        """See the port."""
        rows = await self._rows(_FIND_AGENT, tenant_id=tenant_id, job_id=job_id)
        return rows[0].agent_id if rows else None

    async def list_job_ids(self, prefix: str, *, tenant_id: str, limit: int) -> tuple[str, ...]:
        """See the port."""
        rows = await self._rows(_LIST_JOB_IDS, tenant_id=tenant_id, prefix=prefix, limit=limit)
        return tuple(row.job_id for row in rows)

    async def list_waiting_agents(self, *, tenants: Sequence[str]) -> tuple[WaitingAgent, ...]:
        """See the port."""
        rows = await self._rows(_LIST_WAITING, tenant_id="", tenants=[*tenants])  # of no tenant
        return tuple(WaitingAgent(row.tenant_id, row.agent_id) for row in rows)

    async def list_pending_agents(self, *, tenants: Sequence[str]) -> tuple[WaitingAgent, ...]:
        """See the port."""
        rows = await self._rows(_LIST_PENDING, tenant_id="", tenants=[*tenants])  # of no tenant
        return tuple(WaitingAgent(row.tenant_id, row.agent_id) for row in rows)

    async def list_agents_with_met_waits(
        self, *, tenants: Sequence[str], temporal_namespace: str
    ) -> tuple[WaitingAgent, ...]:
        """See the port."""
        of = {"tenants": [*tenants], "temporal_namespace": temporal_namespace}
        rows = await self._rows(_LIST_WITH_MET_WAITS, tenant_id="", **of)
        return tuple(WaitingAgent(row.tenant_id, row.agent_id) for row in rows)

    def listen(self) -> AbstractAsyncContextManager[Callable[[float], Awaitable[bool]]]:
        """See the port."""
        return listening(self._url)

    async def list_agent_ids(
        self, *, tenant_id: str, after: str | None, limit: int
    ) -> tuple[str, ...]:
        """See the port."""
        rows = await self._rows(
            _LIST_AGENT_IDS, tenant_id=tenant_id, every_agent=EVERY_AGENT, after=after, limit=limit
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
            _LIST_AGENTS,
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
            async with self.pool.connect() as connection:
                rows, _ = await run_together(
                    connection, [bound, COMMIT], opening=begin_statements(tenant_id, write=False)
                )
        return rows

    async def check(self) -> None:
        """Connects and compares the schema's version with this code's, however many use the pool.

        Raises:
            DatabaseUnavailableError: Postgres does not answer.
            SchemaVersionError: the schema is of another version.
            ConfigurationError: the address is of a role that may not run as the application.
        """
        with failures(where=self._where):
            async with self.pool.connect_at_once() as connection:
                await run_together(connection, (), opening=begin_statements("", write=False))
                check_version(await _schema_version(connection))
                await run_together(connection, [COMMIT])

    async def close(self) -> None:
        """See the port."""
        try:
            await self._accesses.close()
        finally:
            if self._sync is not None and self._sync_pool is not None:
                await self._sync.close()
                await self._sync_pool.close()
            if not self._is_shared:
                await self.pool.close()


async def _schema_version(connection: AsyncConnection[Any]) -> str | None:
    """As `schema_version_of`, in a transaction of the pool."""
    ((table,),) = await run_together(connection, [FIND_TABLE.bind({})])
    if not table.is_there:
        return None
    (rows,) = await run_together(connection, [FIND_VERSION.bind({})])
    return rows[0].version_num if rows else None
