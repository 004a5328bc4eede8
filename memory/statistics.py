"""An agent's memory in numbers."""

from pydantic import BaseModel, ConfigDict

from mnestic.memory.entries import EntryStatistics
from mnestic.memory.facts import FactStatus
from mnestic.memory.learning import LearningCount


class MemoryStatistics(BaseModel):
    """Entries, how far learning is, and facts by status."""

    model_config = ConfigDict(frozen=True)

    entries: EntryStatistics
    learning: LearningCount
    facts: dict[FactStatus, int]
