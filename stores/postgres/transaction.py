"""One transaction over an agent's memory in Postgres: its stores, each loaded once it is needed.

The pool of connections begins and ends it.
"""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from mnestic.memory.access.ports import ApiKeyStore, AuditStore
from mnestic.memory.contract.ports import ContractStore
from mnestic.memory.forgetting.export_ports import ExportStore
from mnestic.memory.forgetting.ports import ForgettingStore, SuppressionListStore
from mnestic.memory.jobs import ports as job_ports
from mnestic.memory.jobs.long_term.document_store import DocumentStore
from mnestic.memory.knowledge import ports as knowledge
from mnestic.memory.knowledge.ports import EventStore
from mnestic.memory.knowledge.resources import Resource
from mnestic.memory.knowledge.world.categories import CategoryStore
from mnestic.memory.knowledge.world.period_summaries import PeriodSummaryStore
from mnestic.memory.maintenance.embeddings import EmbeddingStore
from mnestic.memory.maintenance.ports import MaintenanceReportStore, MaintenanceStore
from mnestic.memory.models.ports import UsageStore
from mnestic.memory.operations import LedgerEntry, Operation
from mnestic.memory.ports import Embedder
from mnestic.memory.retrieval.caches import CacheScope, RetrievalCaches
from mnestic.memory.retrieval.ports import RetrievalLogStore, SettingStore
from mnestic.memory.sharing.ports import ChannelStore, ReaderDefaultStore, SharedMemoryStore
from mnestic.stores.postgres.knowledge.accesses import PostgresAccessStore
from mnestic.stores.postgres.retrieval.search import PostgresSearchStore
from mnestic.stores.postgres.unit_of_work import UnitOfWork

if TYPE_CHECKING:  # a tenth of a second, which only who needs a table pays
    from mnestic.memory.forgetting.suppression_list import SuppressionSecrets
    from mnestic.stores.postgres.table_stores import TableStores


class PostgresTransaction:
    """Implements `mnestic.memory.ports.Transaction`."""

    def __init__(
        self,
        unit: UnitOfWork,
        caches: RetrievalCaches,
        *,
        embedder: Embedder | None = None,
        secrets: "SuppressionSecrets | None" = None,
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
    def working(self) -> job_ports.WorkingMemoryStore:
        """See the port."""
        return self._stores.working

    @property
    def records(self) -> job_ports.RecordStore:
        """See the port."""
        return self._stores.records

    @property
    def channels(self) -> ChannelStore:
        """See the port."""
        return self._stores.channels

    @property
    def shared_memory(self) -> SharedMemoryStore:
        """See the port."""
        return self._stores.shared_memory

    @property
    def reader_defaults(self) -> ReaderDefaultStore:
        """See the port."""
        return self._stores.reader_defaults

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
    def events(self) -> EventStore:
        """See the port."""
        return self._stores.events

    @property
    def episodes(self) -> job_ports.EpisodeStore:
        """See the port."""
        return self._stores.episodes

    @property
    def snapshots(self) -> job_ports.SnapshotStore:
        """See the port."""
        return self._stores.snapshots

    @property
    def waits(self) -> job_ports.WaitStore:
        """See the port."""
        return self._stores.waits

    @property
    def resources(self) -> knowledge.ResourceStore:
        """See the port."""
        return self._stores.resources

    @property
    def plans(self) -> job_ports.PlanStore:
        """See the port."""
        return self._stores.plans

    @property
    def usage(self) -> UsageStore:
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
    def suppression_list(self) -> SuppressionListStore:
        """See the port."""
        return self._stores.suppression_list

    @property
    def exports(self) -> ExportStore:
        """See the port."""
        return self._stores.exports

    @property
    def documents(self) -> DocumentStore:
        """See the port."""
        return self._stores.documents

    @property
    def contracts(self) -> ContractStore:
        """See the port."""
        return self._stores.contracts

    @property
    def tool_results(self) -> job_ports.ToolResultStore:
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

    @property
    def embeddings(self) -> EmbeddingStore:
        """See the port."""
        return self._stores.embeddings

    @property
    def api_keys(self) -> ApiKeyStore:
        """See the port."""
        return self._stores.api_keys

    @property
    def audit(self) -> AuditStore:
        """See the port."""
        return self._stores.audit

    def cache_scope(self, database: str) -> CacheScope:
        """See the port."""
        return CacheScope(database, self.unit.tenant_id, self.unit.agent_id, self.unit.reader)

    async def keep_to(self, readers: Sequence[str] | None) -> None:
        """See the port."""
        await self.unit.keep_to(readers)

    async def within_readers_of(self, message: Resource) -> AbstractContextManager[None]:
        """See the port."""
        return await self.unit.within_readers_of(message)

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

    def end_with_next(self) -> None:
        """See the port."""
        self.unit.end_with_next()

    def discard(self) -> None:
        """See the port."""
        self.unit.discard()

    async def complete(self, operation: Operation, result: Mapping[str, Any]) -> None:
        """See the port."""
        await self._stores.ledger.complete(operation, result)
