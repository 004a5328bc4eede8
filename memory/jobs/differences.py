"""Differences: what a snapshot holds, against memory as it is now.

Pure, and apart from snapshots, since a restore needs to know only that something changed, and a
person wants to see what.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import AwareDatetime, ConfigDict

from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.jobs.episodes import Episode
from mnestic.memory.jobs.long_term.records import LongTermRecord, count_records
from mnestic.memory.jobs.short_term.segments import SegmentEntry
from mnestic.memory.jobs.snapshots import Drift, SealedSnapshot, compare, newer_episodes
from mnestic.memory.jobs.waits import JobWait, WaitPolicy, WaitState
from mnestic.memory.jobs.working_memory import WorkingMemory, WorkingRef


class RecordChange(Drift):
    """A record of the read set that changed, with its values; None: it was not there."""

    before: Any = None
    now: Any = None


class VariableChange(DeferredModel):
    """A variable of working memory that changed."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    name: str
    kind: Literal["added", "changed", "removed"]
    before: Any = None
    now: Any = None


class WorkingMemoryChange(DeferredModel):
    """What changed in a session's working memory; messages, tool calls and entries of segments by their ids."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    snapshot_version: int
    current_version: int
    messages_added: tuple[str, ...] = ()
    messages_removed: tuple[str, ...] = ()
    tool_calls_added: tuple[str, ...] = ()
    tool_calls_removed: tuple[str, ...] = ()
    segment_entries_added: tuple[str, ...] = ()
    segment_entries_removed: tuple[str, ...] = ()
    variables: tuple[VariableChange, ...] = ()
    scratchpad_changed: bool = False
    task_changed: bool = False
    task_before: str | None = None
    task_now: str | None = None


class JobDifference(DeferredModel):
    """A wait's snapshot, which was verified, against memory now.

    `passes` tells by policy whether a restore would let the job go on with this drift. `newer_episodes` were
    written since, newest first; a rebase goes on with them, and they are no drift to a strict wait. `set_aside`
    is the snapshot of newer working memory that a pinned restore of the wait has replaced; `redacted_at`
    is when something was taken out of the snapshot, because it was forgotten.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    job_id: str
    wait_id: str
    key: str
    state: WaitState
    policy: WaitPolicy
    snapshot_id: str
    snapshot_sha256: str
    snapshot_at: AwareDatetime
    compared_at: AwareDatetime
    records_compared: int
    drift_count: int
    records: tuple[RecordChange, ...]
    working_memory: WorkingMemoryChange
    passes: dict[WaitPolicy, bool]
    newer_episodes: tuple[Episode, ...] = ()
    set_aside: str | None = None
    redacted_at: AwareDatetime | None = None


@dataclass(frozen=True, kw_only=True)
class MemoryNow:
    """Memory as it is now, as far as a snapshot is compared with it.

    Attributes:
        working: The session's working memory.
        working_ref: Which state that is.
        records: The live records of the read set, by namespace and key.
        versions: The versions of all rows of the read set, deleted and expired ones included.
        episodes: The agent's latest episodes, newest first.
        read_at: When it was read.
    """

    working: WorkingMemory
    working_ref: WorkingRef
    records: Mapping[tuple[str, str], LongTermRecord]
    versions: Mapping[tuple[str, str], int]
    episodes: Sequence[Episode]
    read_at: AwareDatetime


def difference(
    wait: JobWait, sealed: SealedSnapshot, *, sha256: str, now: MemoryNow
) -> JobDifference:
    """Compares a wait's snapshot, which was verified by a hash, with memory as it is now."""
    snapshot = sealed.read()
    drift = compare(
        sealed.head,
        working=now.working_ref,
        records=dict(now.records),
        versions=dict(now.versions),
    )
    before = {(read.namespace, read.key): read.value for read in sealed.head.read_set}
    changes = []
    for change in drift:
        name = (change.namespace, change.key)
        if name in before:
            live = now.records.get(name)
            values = {"before": before[name], "now": live.value if live else None}
            changes.append(RecordChange(**change.model_dump(), **values))
    return JobDifference(
        job_id=wait.job_id,
        wait_id=wait.wait_id,
        key=wait.key,
        state=wait.state,
        policy=wait.policy,
        snapshot_id=wait.snapshot_id,
        snapshot_sha256=sha256,
        snapshot_at=snapshot.snapshot_at,
        compared_at=now.read_at,
        records_compared=count_records(sealed.head.read_set),
        drift_count=len(drift),
        records=tuple(changes),
        working_memory=_working(snapshot.working_memory, now.working),
        passes={"pinned": True, "rebase": True, "strict": not drift},
        newer_episodes=newer_episodes(sealed.head.episodic_tail, now.episodes),
        set_aside=wait.receipt.set_aside if wait.receipt else None,
        redacted_at=sealed.redacted_at,
    )


def _working(before: WorkingMemory, now: WorkingMemory) -> WorkingMemoryChange:
    messages_added, messages_removed = _ids(before.messages, now.messages)
    calls_added, calls_removed = _ids(before.tool_calls, now.tool_calls)
    entries_added, entries_removed = _ids(_entries(before), _entries(now))
    return WorkingMemoryChange(
        snapshot_version=before.version,
        current_version=now.version,
        messages_added=messages_added,
        messages_removed=messages_removed,
        tool_calls_added=calls_added,
        tool_calls_removed=calls_removed,
        segment_entries_added=entries_added,
        segment_entries_removed=entries_removed,
        variables=_variables(before.variables, now.variables),
        scratchpad_changed=before.scratchpad != now.scratchpad,
        task_changed=before.current_task != now.current_task,
        task_before=before.current_task,
        task_now=now.current_task,
    )


def _entries(state: WorkingMemory) -> tuple[SegmentEntry, ...]:
    return state.segments.entries if state.segments else ()


def _ids(before: tuple[Any, ...], now: tuple[Any, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The ids that came and those that went."""
    was, is_ = {item.id for item in before}, {item.id for item in now}
    came = tuple(item.id for item in now if item.id not in was)
    return came, tuple(item.id for item in before if item.id not in is_)


def _variables(before: dict[str, Any], now: dict[str, Any]) -> tuple[VariableChange, ...]:
    changes = []
    for name in sorted({*before, *now}):
        was, is_ = before.get(name), now.get(name)
        if name not in before:
            changes.append(VariableChange(name=name, kind="added", now=is_))
        elif name not in now:
            changes.append(VariableChange(name=name, kind="removed", before=was))
        elif was != is_:
            changes.append(VariableChange(name=name, kind="changed", before=was, now=is_))
    return tuple(changes)
