"""Opening a wait, and restoring what it kept."""

from datetime import datetime
from typing import Any

from temporalio import activity

from mnestic.activities.failures import failures
from mnestic.activities.operations import OperationInput, run_once
from mnestic.memory.errors import ResumeRefusedError
from mnestic.memory.ports import Memory, Transaction
from mnestic.memory.records import LongTermRecord, ReadRecord
from mnestic.memory.snapshots import (
    EPISODIC_TAIL,
    Drift,
    MemorySnapshot,
    SnapshotRef,
    compare,
)
from mnestic.memory.waits import (
    JobWait,
    OpenWait,
    Restored,
    ResumeReceipt,
    ResumptionContext,
    WaitPolicy,
    WaitState,
)

_DRIFT_TOLD = 100  # the first; history and working memory stay small whatever changed


class OpenWaitInput(OperationInput):
    """The wait to open. Times are of the job's clock."""

    wait_id: str
    key: str
    policy: WaitPolicy
    context: ResumptionContext
    opened_at: datetime
    deadline: datetime
    outcomes: tuple[str, ...] = ()
    ask: str | None = None
    form: dict[str, Any] | None = None


class RestoreInput(OperationInput):
    """The wait to restore; without a request it ended by its timeout."""

    wait: OpenWait
    outcome: str
    request_id: str | None = None
    restored_at: datetime


class WaitActivities:
    """The two sides of a wait."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    @activity.defn(name="mnestic.open_wait")
    async def open_wait(self, asked: OpenWaitInput) -> SnapshotRef:
        """Writes the snapshot and the wait in one transaction.

        Idempotent: by the operation's key, in that transaction.
        """
        with failures():
            return await run_once(
                self._memory, asked, SnapshotRef, work=lambda tx: _open_wait(tx, asked)
            )

    @activity.defn(name="mnestic.restore")
    async def restore(self, asked: RestoreInput) -> Restored:
        """Verifies the snapshot, compares it with today, applies the policy and ends the wait.

        Idempotent: by the operation's key; a snapshot that is not verified leaves all as it was.
        """
        with failures():
            return await run_once(
                self._memory, asked, Restored, work=lambda tx: _restore(tx, asked)
            )


async def _open_wait(transaction: Transaction, asked: OpenWaitInput) -> SnapshotRef:
    job_id = asked.operation.job_id or ""
    snapshot_id = asked.new_id("snapshot")
    state = await transaction.working.load(asked.scope.session_id, lock=True)
    state = await transaction.working.save(
        asked.scope.session_id, state.with_checkpoint(snapshot_id)
    )
    episodes, _ = await transaction.episodes.list_by_agent(limit=EPISODIC_TAIL)
    snapshot = MemorySnapshot(
        working_memory=state,
        episodic_tail=episodes,
        read_set=await transaction.records.list_reads(job_id),
        snapshot_at=asked.opened_at,
    )
    ref = await transaction.snapshots.put(snapshot_id, snapshot, job_id=job_id)
    await transaction.waits.open(
        JobWait(
            wait_id=asked.wait_id,
            job_id=job_id,
            scope=asked.scope,
            key=asked.key,
            state="waiting",
            policy=asked.policy,
            snapshot_id=snapshot_id,
            context=asked.context,
            outcomes=asked.outcomes,
            ask=asked.ask,
            form=asked.form,
            deadline=asked.deadline,
            opened_at=asked.opened_at,
        )
    )
    return ref


async def _restore(transaction: Transaction, asked: RestoreInput) -> Restored:
    wait, session_id = asked.wait, asked.scope.session_id
    job_id = asked.operation.job_id or ""
    await _refuse_second_use(transaction, asked)
    snapshot = await transaction.snapshots.get(wait.snapshot.id, sha256=wait.snapshot.sha256)
    names = [(read.namespace, read.key) for read in snapshot.read_set]
    records, versions = await transaction.records.select(names)
    state = await transaction.working.load(session_id, lock=True)
    drift = compare(snapshot, working_version=state.version, records=records, versions=versions)
    if state.version < snapshot.working_memory.version:
        kept = snapshot.working_memory.model_copy(update={"version": state.version})
        state = await transaction.working.save(session_id, kept)
    told = state.with_variables({"drift": _told(drift, snapshot, records) or None})
    if told != state:
        await transaction.working.save(session_id, told)
    await transaction.records.add_reads(job_id, _seen_now(snapshot, records, versions))
    receipt = _receipt(asked, len(drift))
    state_after: WaitState = "timed_out" if receipt is None else "resumed"
    await transaction.waits.close(wait.wait_id, state_after, receipt=receipt)
    return Restored(drift=drift[:_DRIFT_TOLD], drift_count=len(drift), receipt=receipt)


async def _refuse_second_use(transaction: Transaction, asked: RestoreInput) -> None:
    """A request resumes one wait only, also when the job has forgotten its receipt."""
    if asked.request_id is None:
        return
    job_id = asked.operation.job_id or ""
    first = await transaction.waits.find_receipt(job_id, asked.request_id)
    if first is not None and first.wait_id != asked.wait.wait_id:
        raise ResumeRefusedError(
            job_id=job_id, why=f"request {asked.request_id} has resumed wait {first.wait_id}"
        )


def _receipt(asked: RestoreInput, drift_count: int) -> ResumeReceipt | None:
    if asked.request_id is None:
        return None
    return ResumeReceipt(
        request_id=asked.request_id,
        job_id=asked.operation.job_id or "",
        wait_id=asked.wait.wait_id,
        outcome=asked.outcome,
        snapshot_id=asked.wait.snapshot.id,
        snapshot_sha256=asked.wait.snapshot.sha256,
        restored_at=asked.restored_at,
        drift_count=drift_count,
    )


def _seen_now(
    snapshot: MemorySnapshot,
    records: dict[tuple[str, str], LongTermRecord],
    versions: dict[tuple[str, str], int],
) -> list[ReadRecord]:
    """The read set as it is from here on: the job has been told what changed."""
    seen = []
    for read in snapshot.read_set:
        name = (read.namespace, read.key)
        live = records.get(name)
        absent = ReadRecord(namespace=read.namespace, key=read.key, version=versions.get(name, 0))
        seen.append(live.read if live else absent)
    return seen


def _told(
    drift: tuple[Drift, ...],
    snapshot: MemorySnapshot,
    records: dict[tuple[str, str], LongTermRecord],
) -> list[dict[str, object]]:
    """The drift with values, for the job's working memory: what a model is told about it."""
    before = {(read.namespace, read.key): read.value for read in snapshot.read_set}
    told = []
    for change in drift[:_DRIFT_TOLD]:
        name = (change.namespace, change.key)
        now = records.get(name)
        values = {"before": before.get(name), "now": now.value if now else None}
        told.append(change.model_dump(mode="json") | values)
    return told
