"""An agent's memory in numbers."""

from pydantic import ConfigDict

from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.entries import EntryStatistics
from mnestic.memory.facts import FactStatus
from mnestic.memory.learning import LearningCount


class MemoryStatistics(DeferredModel):
    """Entries, how far learning is, and facts by status."""

    model_config = ConfigDict(frozen=True)

    entries: EntryStatistics
    learning: LearningCount
    facts: dict[FactStatus, int]
