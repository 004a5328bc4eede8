"""The stores of a transaction, all but the one of searches.

They stand together because to load them takes a tenth of a second. `PostgresTransaction` loads this module for the first
transaction that needs one of them, so who only searches never does.
"""

from mnestic.memory.forgetting.suppression_list import SuppressionSecrets
from mnestic.memory.ports import Embedder
from mnestic.stores.postgres.access.api_keys import PostgresApiKeyStore
from mnestic.stores.postgres.access.audit import PostgresAuditStore
from mnestic.stores.postgres.contract.contracts import PostgresContractStore
from mnestic.stores.postgres.forgetting.exports import PostgresExportStore
from mnestic.stores.postgres.forgetting.requests import PostgresForgettingStore
from mnestic.stores.postgres.forgetting.suppression_list import PostgresSuppressionListStore
from mnestic.stores.postgres.jobs.documents import PostgresDocumentStore
from mnestic.stores.postgres.jobs.episodes import PostgresEpisodeStore
from mnestic.stores.postgres.jobs.plans import PostgresPlanStore
from mnestic.stores.postgres.jobs.records import PostgresRecordStore
from mnestic.stores.postgres.jobs.snapshots import PostgresSnapshotStore
from mnestic.stores.postgres.jobs.tool_results import PostgresToolResultStore
from mnestic.stores.postgres.jobs.waits import PostgresWaitStore
from mnestic.stores.postgres.jobs.working_memory import PostgresWorkingMemoryStore
from mnestic.stores.postgres.knowledge.archive import PostgresArchiveStore
from mnestic.stores.postgres.knowledge.categories import PostgresCategoryStore
from mnestic.stores.postgres.knowledge.derived_entries import DerivedEntries
from mnestic.stores.postgres.knowledge.entries import PostgresEntryStore
from mnestic.stores.postgres.knowledge.entry_index import EntryIndex
from mnestic.stores.postgres.knowledge.events import PostgresEventStore
from mnestic.stores.postgres.knowledge.facts import PostgresFactStore
from mnestic.stores.postgres.knowledge.ingest_states import PostgresIngestStateStore
from mnestic.stores.postgres.knowledge.period_summaries import PostgresPeriodSummaryStore
from mnestic.stores.postgres.knowledge.resources import PostgresResourceStore
from mnestic.stores.postgres.ledger import PostgresLedger
from mnestic.stores.postgres.maintenance.agents import PostgresMaintenanceStore
from mnestic.stores.postgres.maintenance.reports import PostgresMaintenanceReportStore
from mnestic.stores.postgres.models.usage import PostgresUsageStore
from mnestic.stores.postgres.retrieval.agent_settings import PostgresSettingStore
from mnestic.stores.postgres.retrieval.embeddings import PostgresEmbeddingStore
from mnestic.stores.postgres.retrieval.retrieval_log import PostgresRetrievalLogStore
from mnestic.stores.postgres.sharing.channels import PostgresChannelStore
from mnestic.stores.postgres.sharing.reader_defaults import PostgresReaderDefaultStore
from mnestic.stores.postgres.sharing.shared_memory import PostgresSharedMemoryStore
from mnestic.stores.postgres.unit_of_work import UnitOfWork


class TableStores:
    """The stores of one transaction."""

    def __init__(
        self, unit: UnitOfWork, embedder: Embedder | None, secrets: SuppressionSecrets | None
    ) -> None:
        index = EntryIndex(unit, embedder)
        derived = DerivedEntries(unit, index)
        self.contracts = PostgresContractStore(unit)
        self.channels = PostgresChannelStore(unit)
        self.shared_memory = PostgresSharedMemoryStore(unit)
        self.reader_defaults = PostgresReaderDefaultStore(unit)
        self.ledger = PostgresLedger(unit)
        self.working = PostgresWorkingMemoryStore(unit)
        self.records = PostgresRecordStore(unit)
        self.documents = PostgresDocumentStore(unit)
        self.facts = PostgresFactStore(unit, derived)
        self.entries = PostgresEntryStore(unit, index, derived)
        self.archive = PostgresArchiveStore(unit, index, derived)
        self.ingest_states = PostgresIngestStateStore(unit)
        self.events = PostgresEventStore(unit)
        self.episodes = PostgresEpisodeStore(unit, derived)
        self.snapshots = PostgresSnapshotStore(unit)
        self.waits = PostgresWaitStore(unit)
        self.resources = PostgresResourceStore(unit)
        self.plans = PostgresPlanStore(unit)
        self.usage = PostgresUsageStore(unit)
        self.settings = PostgresSettingStore(unit)
        self.retrieval_log = PostgresRetrievalLogStore(unit)
        self.forgetting = PostgresForgettingStore(unit, derived)
        self.suppression_list = PostgresSuppressionListStore(unit, self.forgetting, secrets=secrets)
        self.exports = PostgresExportStore(unit, derived)
        self.tool_results = PostgresToolResultStore(unit)
        self.categories = PostgresCategoryStore(unit)
        self.summaries = PostgresPeriodSummaryStore(unit)
        self.maintenance = PostgresMaintenanceStore(unit, index)
        self.maintenance_reports = PostgresMaintenanceReportStore(unit)
        self.embeddings = PostgresEmbeddingStore(unit)
        self.api_keys = PostgresApiKeyStore(unit)
        self.audit = PostgresAuditStore(unit)
