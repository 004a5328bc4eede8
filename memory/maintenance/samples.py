"""Samples: what an operator watches of a tenant's memory, as values of time series.

They are of this moment, and no label may name an agent or quote memory: whoever watches a service need not read it.
"""

from collections.abc import Mapping
from types import MappingProxyType

from pydantic import ConfigDict

from mnestic.memory.deferred_model import DeferredModel

SERIES: Mapping[str, tuple[str, tuple[str, ...]]] = MappingProxyType(
    {
        "agents": ("Agents of the tenant that have memory", ()),
        "entries": ("Entries of the tenant that a search can find", ()),
        "memory_bytes": (
            "Bytes of the tenant's rows, without indexes, at the last maintenance",
            (),
        ),
        "ingest_messages": ("Messages whose extraction is not done, by state", ("state",)),
        "ingest_oldest_seconds": ("Age of the oldest message in a state", ("state",)),
        "maintenance_seconds": ("Duration of the last run", ("kind",)),
        "maintenance_problems": ("Problems of the last run", ("kind",)),
        "maintenance_agents_stopped": (
            "Agents of which the last run removed nothing, since that would be too much, or that cannot be read",
            ("kind",),
        ),
        "damaged": (
            "Pages that failed their checksum and indexes that cannot be used; and what the last night could not read, find or verify",
            ("kind",),
        ),
        "maintenance_finished_timestamp_seconds": ("When the last run finished", ("kind",)),
        "maintenance_succeeded_timestamp_seconds": (
            "When the last run without problems finished",
            ("kind",),
        ),
        "maintenance_scheduled_timestamp_seconds": (
            "Since when there is a Schedule that is not paused",
            ("kind",),
        ),
        "model_calls_today": ("Calls of models since midnight (UTC)", ("purpose",)),
        "model_tokens_today": ("Tokens of these calls", ("purpose", "direction")),
        "model_cost_usd_today": ("Cost of these calls, where it is known", ("purpose",)),
        "disk_bytes": ("Size of the disk of a folder of this process", ("place",)),
        "disk_free_bytes": ("What is free of it", ("place",)),
        "temporal_up": ("Whether Temporal answers", ()),
        "jobs": ("Jobs that have not ended, by state", ("state",)),
    }
)
"""The series: what each is, and its labels."""


class Sample(DeferredModel):
    """One value of a series."""

    model_config = ConfigDict(frozen=True)

    name: str
    labels: dict[str, str]
    value: float
