"""Timelines: what happened to a job, from Temporal's history and from our rows.

Joining the two is pure. Each source has events that the other lacks, and either may have deleted its part.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

from pydantic import AwareDatetime, ConfigDict, Field, field_validator

from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.jobs.episodes import Episode
from mnestic.memory.jobs.waits import JobWait
from mnestic.memory.names import EXTEND_WAIT
from mnestic.memory.operations import LedgerEntry

TimelineEventKind = Literal[
    "started",
    "continued",
    "step",
    "wait_opened",
    "wait_extended",
    "requested",
    "refused",
    "timer_fired",
    "restored",
    "needs_attention",
    "cancel_requested",
    "clock_moved",
    "worker_lost",
    "stuck",
    "reset",
    "ended",
]
"""The kinds of events in a timeline.

started          the job began
continued        it continued in a new run, at the next epoch
step             a node, or another activity, ran, runs or failed
wait_opened      its memory was sealed, and it began to wait
wait_extended    the deadline of its wait was moved
requested        somebody sent a request: a resume, an override, a pause, …
refused          a request that had been accepted was refused later
timer_fired      a deadline passed
restored         a wait ended, its snapshot was compared with memory
needs_attention  a restore was not possible, so the job waits for a person
cancel_requested somebody requested its cancellation
clock_moved      the job's own clock was moved, as by the demo
worker_lost      a worker took a task of it and did not answer
stuck            its workflow code fails on a worker
reset            somebody reset it to an earlier point of its history
ended            the job ended
"""

_SHOWN_BY_WAITS = frozenset({"open_wait", "restore"})


class TimelineEntry(DeferredModel):
    """One thing that happened. `detail` holds ids, names, counts, durations and causes."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    at: AwareDatetime
    what: TimelineEventKind
    detail: dict[str, Any] = Field(default_factory=dict)
    source: Literal["temporal", "rows", "both"] = "temporal"

    @field_validator("detail")
    @classmethod
    def _known(cls, detail: dict[str, Any]) -> dict[str, Any]:
        """Leaves out details without a value."""
        return {name: value for name, value in detail.items() if value not in (None, "", [])}

    def joined(self, **more: Any) -> "TimelineEntry":
        """This entry with the details of its row; where both have one, Temporal's stays."""
        return self.with_detail(**{**more, **self.detail}).model_copy(update={"source": "both"})

    def with_detail(self, **detail: Any) -> "TimelineEntry":
        """This entry with more detail."""
        merged = {**self.detail, **detail}
        return TimelineEntry(at=self.at, what=self.what, detail=merged, source=self.source)


class JobTimeline(DeferredModel):
    """What happened to a job, in the order of time.

    `complete` is false when Temporal does not keep all of the job's history any more.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    job_id: str
    entries: tuple[TimelineEntry, ...]
    complete: bool


def join_rows(
    entries: Sequence[TimelineEntry],
    *,
    waits: Sequence[JobWait],
    operations: Sequence[LedgerEntry],
    episodes: Sequence[Episode],
) -> tuple[TimelineEntry, ...]:
    """Joins the events of Temporal with the rows of the job, so that no event is there twice.

    Args:
        entries: From Temporal's history, in its order; empty if Temporal has deleted it.
        waits: All waits of the job.
        operations: All operations of the job, in their order.
        episodes: All episodes of the job.
    """
    extended = {_extension(operation).get("wait_id") for operation in operations}
    opened = {wait.wait_id: _opened(wait, extended=wait.wait_id in extended) for wait in waits}
    with_waits = _with_waits(entries, waits, opened)
    done, left = _with_operations(with_waits, operations)
    joined = [_with_episode(entry, episodes) for entry in done]
    alone = [_done(operation, episodes) for operation in left]
    return tuple(
        sorted([*joined, *_waits_alone(joined, waits, opened), *alone], key=lambda entry: entry.at)
    )


def _with_waits(
    entries: Sequence[TimelineEntry],
    waits: Sequence[JobWait],
    opened: Mapping[str, dict[str, Any]],
) -> Iterator[TimelineEntry]:
    by_id = {wait.wait_id: wait for wait in waits} | {wait.snapshot_id: wait for wait in waits}
    for entry in entries:
        detail = entry.detail
        wait = by_id.get(detail.get("wait_id") or detail.get("snapshot_id") or "")
        if wait is None or entry.what not in ("wait_opened", "restored"):
            yield entry
        elif entry.what == "wait_opened":
            yield entry.joined(**opened[wait.wait_id])
        elif wait.closed_at is not None:
            yield entry.joined(**_closed(wait))
        else:
            yield entry


def _waits_alone(
    entries: Sequence[TimelineEntry],
    waits: Sequence[JobWait],
    opened: Mapping[str, dict[str, Any]],
) -> Iterator[TimelineEntry]:
    """Entries for waits that are in our rows alone."""
    known = {entry.detail.get("wait_id") for entry in entries if entry.what == "wait_opened"}
    closed = {entry.detail.get("wait_id") for entry in entries if entry.what == "restored"}
    for wait in waits:
        if wait.wait_id not in known:
            yield _row(wait.opened_at, "wait_opened", **opened[wait.wait_id])
        restored = wait.state in ("resumed", "timed_out") and wait.closed_at is not None
        if restored and wait.wait_id not in closed:
            yield _row(wait.closed_at or wait.opened_at, "restored", **_closed(wait))


def _with_operations(
    entries: Iterator[TimelineEntry], operations: Sequence[LedgerEntry]
) -> tuple[list[TimelineEntry], list[LedgerEntry]]:
    """The entries joined with their operations, and the operations without an entry."""
    left = {operation.key: operation for operation in operations}
    joined = []
    for entry in entries:
        found = [left.pop(key, None) for key in entry.detail.get("operations", ())]
        joined.append(entry.joined() if any(found) else entry)
    extended = sum(entry.what == "wait_extended" for entry in joined)
    rest = [done for done in left.values() if done.name not in _SHOWN_BY_WAITS]
    nameless = [done for done in rest if _extends(done)]
    known = {done.key for done in nameless[len(nameless) - min(extended, len(nameless)) :]}
    return joined, [done for done in rest if done.key not in known]


def _with_episode(entry: TimelineEntry, episodes: Sequence[Episode]) -> TimelineEntry:
    episode_id = entry.detail.get("episode_id")
    if entry.what != "ended" or not any(episode.id == episode_id for episode in episodes):
        return entry
    return entry.joined()


def _done(operation: LedgerEntry, episodes: Sequence[Episode]) -> TimelineEntry:
    """An entry for an operation that is in the ledger alone; its episode was written in the same transaction."""
    found = [episode for episode in episodes if episode.created_at == operation.created_at]
    episode_id = found[0].id if found else None
    detail = {"operations": [operation.key], "episode_id": episode_id}
    if operation.name == "end":
        payload: Mapping[str, Any] = found[0].payload if found else {}
        detail |= {name: payload.get(name) for name in ("outcome", "plan", "waits")}
        return _row(operation.created_at, "ended", **detail)
    if _extends(operation):
        detail |= _extension(operation)
        return _row(operation.created_at, "wait_extended", **detail)
    return _row(operation.created_at, "step", kind=operation.name, state="done", **detail)


def _extends(operation: LedgerEntry) -> bool:
    return operation.name == EXTEND_WAIT


def _extension(operation: LedgerEntry) -> dict[str, str]:
    """The wait and its new deadline, from the operation's key."""
    wait_id, named, deadline = operation.key.partition(f"/{EXTEND_WAIT}/")
    return {"wait_id": wait_id, "deadline": deadline} if named else {}


def _opened(wait: JobWait, *, extended: bool) -> dict[str, Any]:
    """The details of an opening, from the row. The row has the latest deadline, so that of an extended wait is left out."""
    sealed = wait.context.memory_snapshot
    return {
        "wait_id": wait.wait_id,
        "key": wait.key,
        "node": wait.context.cursor_node,
        "policy": wait.policy,
        "deadline": None if extended else wait.deadline.isoformat(),
        "snapshot_id": wait.snapshot_id,
        "sha256": sealed.sha256 if sealed else wait.receipt and wait.receipt.snapshot_sha256,
    }


def _closed(wait: JobWait) -> dict[str, Any]:
    receipt = wait.receipt
    closed: dict[str, Any] = {"wait_id": wait.wait_id, "snapshot_id": wait.snapshot_id}
    if receipt is None:
        return closed | {"outcome": "timeout"}
    return closed | receipt_detail(receipt.model_dump(mode="json"))


def receipt_detail(receipt: Mapping[str, Any]) -> dict[str, Any]:
    """The details of a receipt in a timeline."""
    names = ("wait_id", "request_id", "outcome", "snapshot_id", "drift_count", "set_aside")
    override = receipt.get("override") or {}
    return {
        **{name: receipt.get(name) for name in names},
        "sha256": receipt.get("snapshot_sha256"),
        "verified": receipt.get("verified", True),
        "reason": override.get("reason"),
        "by": override.get("by"),
    }


def _row(at: datetime, what: TimelineEventKind, **detail: Any) -> TimelineEntry:
    return TimelineEntry(at=at, what=what, detail=detail, source="rows")
