"""An agent's memory in numbers."""

from pydantic import ConfigDict

from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.knowledge.entries import ArchiveReason, EntryStatistics
from mnestic.memory.knowledge.facts import FactStatus
from mnestic.memory.knowledge.ingestion import IngestCounts


class MemoryStatistics(DeferredModel):
    """Entries, messages by ingest state, facts by status, and archived entries by reason."""

    model_config = ConfigDict(frozen=True)

    entries: EntryStatistics
    ingest_states: IngestCounts
    facts: dict[FactStatus, int]
    archived: dict[ArchiveReason, int]
