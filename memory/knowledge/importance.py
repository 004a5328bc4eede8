"""Importance: how much a memory is worth keeping and telling, from 0 to 1.

All weights are one value, so that a tenant's policy is data.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from types import MappingProxyType

from pydantic import ConfigDict, Field

from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.knowledge.entries import Entry, EntryType

_DAY = timedelta(days=1)
_BY_TYPE: Mapping[EntryType, float] = MappingProxyType(
    {
        "correction": 0.9,
        "insight": 0.8,
        "knowledge": 0.8,
        "learning": 0.7,
        "pattern": 0.7,
        "interaction": 0.6,
        "preference": 0.6,
        "context": 0.5,
    }
)


class ImportancePolicy(DeferredModel):
    """The weights of what makes a memory important, and where each part is at its full value."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    entry_type: float = Field(ge=0, le=1, default=0.4)
    recency: float = Field(ge=0, le=1, default=0.25)
    access: float = Field(ge=0, le=1, default=0.2)
    relations: float = Field(ge=0, le=1, default=0.15)
    richness: float = Field(ge=0, le=1, default=0.1)
    by_type: dict[EntryType, float] = Field(default_factory=lambda: dict(_BY_TYPE))
    other_type: float = Field(ge=0, le=1, default=0.5)
    critical: float = Field(ge=0, le=1, default=1.0)
    recent_days: float = Field(gt=0, default=30)
    least_recency: float = Field(ge=0, le=1, default=0.1)
    many_accesses: int = Field(gt=0, default=10)
    many_relations: int = Field(gt=0, default=5)
    rich_chars: int = Field(gt=0, default=1000)


_DEFAULTS = ImportancePolicy()


def importance(
    entry: Entry, *, now: datetime, children: int = 0, policy: ImportancePolicy | None = None
) -> float:
    """The importance of an entry at a moment, clipped to [0, 1].

    Args:
        entry: The memory; its stored importance is not looked at.
        now: What its age is measured against; an entry of later counts as new.
        children: How many entries belong to it; they are relations as well.
        policy: The weights; the defaults without one.
    """
    weights = policy or _DEFAULTS
    kind = weights.by_type.get(entry.entry_type, weights.other_type)
    days = max(0, (now - entry.at) // _DAY)
    relations = len(entry.related) + (entry.parent is not None) + children
    parts = (
        weights.entry_type * (weights.critical if entry.critical else kind),
        weights.recency * max(weights.least_recency, 1 - days / weights.recent_days),
        weights.access * min(1, entry.access_count / weights.many_accesses),
        weights.relations * min(1, relations / weights.many_relations),
        weights.richness * min(1, len(entry.content) / weights.rich_chars),
    )
    return min(1.0, max(0.0, sum(parts)))
