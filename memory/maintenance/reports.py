"""What a maintenance run is asked, and what it reports."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Literal

from pydantic import AwareDatetime, ConfigDict, Field

from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.maintenance.policies import MaintenanceKind
from mnestic.memory.models.usage import UsageTotal
from mnestic.memory.scope import Id

COUNTS = {
    "records_expired": "long-term records removed, since their time was over",
    "entries_expired": "entries removed, since their time was over",
    "merged": "entries archived, since another says the same",
    "promoted": "facts that were used since they were promoted last",
    "categories_rebuilt": "summaries of categories written again",
    "categories_summarised": "summaries of categories that a chat model wrote",
    "summaries_built": "summaries of sessions, weeks, months and lives written",
    "summaries_left": "such summaries for which the model calls of the run did not suffice",
    "summaries_removed": "such summaries removed, since the agent has few messages now",
    "importance_changed": "entries whose importance is another",
    "archived": "entries moved to the archive",
    "deleted": "archived entries deleted for good",
    "decayed": "facts that have lost confidence, since nobody said or used them",
    "confidence_restored": "facts that count in full again, since somebody said or used them",
    "faded": "facts that are archived, since they have lost nearly all of it",
    "compressed": "entries archived, since one that quotes them takes their place",
    "compressed_into": "entries that take the place of several",
    "messages_removed": "raw messages removed that nothing referred to",
    "agents_left": "agents for which the model calls of the run did not suffice",
    "agents_stopped": "agents of which nothing was removed, since that would be too much, or that cannot be read",
    "damaged_rows": "agents of which a row cannot be read",
    "damaged_words": "entries of a sample that full text search lacks words of",
    "damaged_vectors": "entries of that sample that their own vectors do not find",
    "damaged_snapshots": "open waits whose snapshots cannot be verified",
    "indexes_built": "vector indexes built for large memories",
    "indexes_dropped": "vector indexes dropped that were not worth their place",
    "edges_mended": "edges of the graph that differed from the facts, and were written again",
    "words_mended": "entries of which full text search lacked words, and that were entered again",
    "tables_vacuumed": "tables vacuumed and analysed",
    "indexes_rebuilt": "bloated indexes that were rebuilt; `bytes freed of NAME` says what that gained",
    "leftover_indexes_dropped": "indexes dropped that an interrupted rebuild had left",
    "reembedded": "entries with vectors of the new model of embeddings",
    "vectors_renewed": "entries, archived ones too, whose vectors were made again by the same model",
    "switched": "agents whose searches compare those vectors now",
    "switches_refused": "agents that keep their vectors, and why is a problem of the report",
    "vectors_removed": "vectors of earlier models removed",
    "tables": "tables of the backup",
    "rows": "rows of the backup",
    "bytes": "bytes of its files",
    "backups_verified": "backups verified in a scratch database",
    "backups_removed": "older backups removed",
}
"""What a report counts."""


def is_future(at: datetime, *, now: datetime) -> bool:
    """Whether a moment is later than now by more than clocks may differ; no maintenance is done for it."""
    return at > now + timedelta(minutes=1)


def run_name(kind: MaintenanceKind, scheduled_at: datetime) -> str:
    """How a run is named in the archive, in claims and among the calls of models."""
    return f"maintenance/{kind}/{scheduled_at.isoformat()}"


def describe_left(why: str, agent_ids: Sequence[str], *, number: int) -> str:
    """The problem of a run whose model calls did not suffice.

    Args:
        why: What stopped them.
        agent_ids: The first of the agents that are left.
        number: How many are left.
    """
    more = ", …" if number > len(agent_ids) else ""
    return f"{why}; agents left for the next run: {number} ({', '.join(agent_ids)}{more})"


class MaintenanceRequest(DeferredModel):
    """The input of the workflow `Maintenance`.

    A run that continues as new goes on in its stage after the agent `after`, with what was counted before.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    tenant_id: Id
    kind: MaintenanceKind
    agent_id: Id | None = Field(None, description="The one agent to maintain; default: all")
    dry_run: bool = False
    allow_removals: bool = Field(
        False, description="Whether more may be removed than the policy says"
    )
    renew_vectors: bool = Field(
        False, description="Whether a monthly run makes vectors again whose model is the same"
    )
    scheduled_at: AwareDatetime | None = None
    started_at: AwareDatetime | None = None
    stage: Literal["agents", "embeddings"] = "agents"
    after: str | None = None
    agents: int = 0
    counts: dict[str, int] = Field(default_factory=dict)
    problems: tuple[str, ...] = ()


class MaintenanceProgress(DeferredModel):
    """How far a run is: the agents that it went through, and what it has counted of them."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    agents: int
    counts: dict[str, int]


class MaintenanceRun(DeferredModel):
    """A run by its id: its state, and how far it is while it runs and a worker says so."""

    model_config = ConfigDict(frozen=True)

    id: str
    state: Literal["running", "completed", "failed", "cancelled"]
    progress: MaintenanceProgress | None = None


class MemorySizes(DeferredModel):
    """How much a tenant's memory holds: its agents, entries of messages, active facts, raw messages and archived entries.

    `memory_bytes` is about what the tenant's rows take, without indexes; reports of an earlier version have none.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    agents: int
    entries: int
    facts: int
    messages: int
    archived: int
    memory_bytes: int = 0

    def since(self, before: "MemorySizes") -> dict[str, int]:
        """What has been added by name, less what has been removed."""
        was = before.model_dump()
        return {name: number - was[name] for name, number in self.model_dump().items()}


class TableSizes(DeferredModel):
    """What a table takes and what its indexes take, of all tenants; `rows` is an estimate."""

    model_config = ConfigDict(frozen=True)

    name: str
    rows: int
    table_bytes: int
    index_bytes: int


class DatabaseSizes(DeferredModel):
    """What the tables take, the largest first, and how much each tenant has; for the owner of the tables alone."""

    model_config = ConfigDict(frozen=True)

    tables: tuple[TableSizes, ...]
    tenants: dict[str, MemorySizes]


class MaintenanceReport(DeferredModel):
    """What a maintenance run did, or would do if it is a `dry_run`: how many agents it went through, and counts by name.

    `problems` say what it could not do, and why. The names of the counts are in `COUNTS`. `usage` is what its calls of a
    chat model took. `sizes` are those of the tenant's memory at the end of the run; reports of an earlier version have none.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str
    kind: MaintenanceKind
    agent_id: str | None = None
    dry_run: bool = False
    scheduled_at: AwareDatetime
    started_at: AwareDatetime
    finished_at: AwareDatetime
    agents: int
    counts: dict[str, int]
    usage: UsageTotal = UsageTotal()
    problems: tuple[str, ...] = ()
    sizes: MemorySizes | None = None

    @property
    def run(self) -> str:
        """How the run is named, by which what it has done is found."""
        return run_name(self.kind, self.scheduled_at)

    @property
    def is_whole(self) -> bool:
        """Whether it did its work for all agents: no dry run, not of one agent, and no backup of nothing."""
        is_empty = self.kind == "backup" and not self.counts.get("tables")
        return not self.dry_run and self.agent_id is None and not is_empty

    @property
    def agents_stopped(self) -> int:
        """Of how many agents the guard let nothing be removed, or which cannot be read."""
        return self.counts.get("agents_stopped", 0)

    @property
    def is_damage_found(self) -> bool:
        """Whether it found something that cannot be read, found or verified."""
        return any(name.startswith("damaged_") for name in self.counts)

    @property
    def seconds(self) -> float:
        """How long it took."""
        return (self.finished_at - self.started_at).total_seconds()


class MemoryGrowth(DeferredModel):
    """How much a tenant's memory holds, and by how much it has grown since the last run of each kind of maintenance."""

    model_config = ConfigDict(frozen=True)

    sizes: MemorySizes
    since_last: dict[MaintenanceKind, dict[str, int]]
