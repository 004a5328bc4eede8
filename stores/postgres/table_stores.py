"""The stores that build their statements of the tables: all but the one of searches.

They stand together because to build the tables takes a tenth of a second. `PostgresTransaction` loads this module
for the first transaction that needs one of them, so who only searches never does.
"""

from mnestic.memory.ports import Embedder
from mnestic.stores.postgres.agent_settings import PostgresSettingStore
from mnestic.stores.postgres.entries import PostgresEntryStore
from mnestic.stores.postgres.episodes import PostgresEpisodeStore
from mnestic.stores.postgres.facts import PostgresFactStore
from mnestic.stores.postgres.forgetting import PostgresForgettingStore
from mnestic.stores.postgres.injections import PostgresInjectionStore
from mnestic.stores.postgres.learning import PostgresLearningStore
from mnestic.stores.postgres.ledger import PostgresLedger
from mnestic.stores.postgres.plans import PostgresPlanStore
from mnestic.stores.postgres.records import PostgresRecordStore
from mnestic.stores.postgres.resources import PostgresResourceStore
from mnestic.stores.postgres.signals import PostgresSignalStore
from mnestic.stores.postgres.snapshots import PostgresSnapshotStore
from mnestic.stores.postgres.tool_results import PostgresToolResultStore
from mnestic.stores.postgres.unit import Unit
from mnestic.stores.postgres.usage import PostgresUsageStore
from mnestic.stores.postgres.waits import PostgresWaitStore
from mnestic.stores.postgres.working import PostgresWorkingMemoryStore


class TableStores:
    """The stores of one transaction."""

    def __init__(self, unit: Unit, embedder: Embedder | None) -> None:
        self.ledger = PostgresLedger(unit)
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
        self.settings = PostgresSettingStore(unit)
        self.injections = PostgresInjectionStore(unit)
        self.forgetting = PostgresForgettingStore(unit)
        self.tool_results = PostgresToolResultStore(unit)
