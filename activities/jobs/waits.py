"""Opens waits, moves their deadlines, and restores their snapshots."""

from datetime import datetime
from typing import Any

from temporalio import activity

from mnestic.activities.failures import failures
from mnestic.activities.jobs.channels import find_channels
from mnestic.activities.jobs.contexts import load_context
from mnestic.activities.jobs.restores import restore_wait
from mnestic.activities.jobs.segments import find_contract
from mnestic.activities.operations import OperationInput, run_once
from mnestic.memory.errors import ResumeRefusedError, StaleVersionError
from mnestic.memory.jobs.contexts import ContextSelection, PinnedEpisodes
from mnestic.memory.jobs.snapshots import SnapshotParts, SnapshotRef
from mnestic.memory.jobs.waits import (
    TIMEOUT,
    ExtendRequest,
    JobWait,
    OpenWait,
    Restored,
    ResumeRequest,
    ResumptionContext,
    WaitCondition,
    WaitExtended,
    WaitPolicy,
)
from mnestic.memory.ports import Memory, Retriever, Transaction
from mnestic.memory.sharing.events import EventCondition


class OpenWaitInput(OperationInput):
    """The wait to open. Times are of the job's clock."""

    wait_id: str
    key: str
    policy: WaitPolicy
    context: ResumptionContext
    outcomes: tuple[str, ...] = ()
    ask: str | None = None
    form: dict[str, Any] | None = None
    condition: WaitCondition | None = None
    opened_at: datetime
    deadline: datetime
    sealed_tail: PinnedEpisodes | None = None

    @property
    def request_hash(self) -> str:
        """The wait without its time: an attempt that was lost may have opened it at another."""
        return _hash_of_wait(self, self.wait_id) or super().request_hash


class RestoreInput(OperationInput):
    """The wait to restore; without a request it ended by its timeout.

    Callers of version 0.1.0 send `outcome` and `request_id` in place of the request.
    """

    wait: OpenWait
    request: ResumeRequest | None = None
    restored_at: datetime
    outcome: str = TIMEOUT
    request_id: str | None = None

    @property
    def decision(self) -> ResumeRequest | None:
        """The request that resumes the wait, or None for its timeout."""
        if self.request is None and self.request_id is not None:
            return ResumeRequest(request_id=self.request_id, outcome=self.outcome)
        return self.request

    @property
    def request_hash(self) -> str:
        """The end of the wait, whichever request caused it: the first decision stands."""
        return _hash_of_wait(self, self.wait.wait_id) or super().request_hash


class ExtendWaitInput(OperationInput):
    """The wait to give a later deadline, by the job's clock."""

    wait_id: str
    request: ExtendRequest


class WaitActivities:
    """What happens to a wait."""

    def __init__(self, memory: Memory, retriever: Retriever) -> None:
        self._memory, self._retriever = memory, retriever

    @activity.defn(name="mnestic.open_wait")
    async def open_wait(self, params: OpenWaitInput) -> SnapshotRef:
        """Writes the snapshot and the wait in one transaction.

        Idempotent: by the wait; who opens it again gets the snapshot that was taken first.
        """
        with failures():
            return await run_once(
                self._memory, params, SnapshotRef, work=lambda tx: self._open_wait(tx, params)
            )

    @activity.defn(name="mnestic.extend_wait")
    async def extend_wait(self, params: ExtendWaitInput) -> WaitExtended:
        """Moves the deadline of an open wait.

        Idempotent: by the operation's key.
        """
        with failures():
            return await run_once(
                self._memory, params, WaitExtended, work=lambda tx: _extend_wait(tx, params)
            )

    @activity.defn(name="mnestic.restore")
    async def restore(self, params: RestoreInput) -> Restored:
        """Verifies the snapshot, compares it with today, applies the policy and ends the wait.

        Idempotent: by the wait, whose first restore stands; a snapshot that is not verified leaves
        all as it was.
        """
        with failures():
            return await run_once(
                self._memory, params, Restored, work=lambda tx: _restore(tx, params)
            )

    async def _open_wait(self, transaction: Transaction, params: OpenWaitInput) -> SnapshotRef:
        job_id = params.operation.job_id or ""
        snapshot_id = params.new_id("snapshot")
        working = await transaction.working.checkpoint(params.scope.session_id, snapshot_id)
        context = await load_context(
            transaction,
            self._retriever,
            params,
            select=ContextSelection(),
            sealed_tail=params.sealed_tail,
        )
        parts = SnapshotParts(
            working=working,
            episodic_tail=context.episodes,
            read_set=context.records,
            snapshot_at=params.opened_at,
        )
        if isinstance(
            params.condition, EventCondition
        ):  # before the snapshot, which takes the agent's last lock
            contract = await find_contract(transaction, params.scope.agent_id)
            channels = await find_channels(transaction, contract)
            await transaction.channels.expect(params.condition.channel, channels)
        ref = await transaction.snapshots.put(snapshot_id, parts, job_id=job_id)
        await transaction.waits.open(
            JobWait(
                wait_id=params.wait_id,
                job_id=job_id,
                scope=params.scope,
                key=params.key,
                state="waiting",
                policy=params.policy,
                snapshot_id=snapshot_id,
                context=params.context.model_copy(update={"memory_snapshot": ref}),
                outcomes=params.outcomes,
                ask=params.ask,
                form=params.form,
                condition=params.condition,
                deadline=params.deadline,
                opened_at=params.opened_at,
            ),
            temporal_namespace=activity.info().workflow_namespace,
        )
        return ref


def _hash_of_wait(params: OperationInput, wait_id: str) -> str | None:
    """The hash of an operation that happens once to a wait; None for one that 0.1.0 began."""
    if not params.operation.key.startswith(f"{wait_id}/"):
        return None
    return params.operation.request_hash([params.scope.model_dump(mode="json"), wait_id])


async def _extend_wait(transaction: Transaction, params: ExtendWaitInput) -> WaitExtended:
    try:
        wait = await transaction.waits.extend(params.wait_id, params.request.until)
    except StaleVersionError as error:
        job_id = params.operation.job_id or ""
        why = f"wait {params.wait_id} is over ({error.stored.state})"
        raise ResumeRefusedError(job_id=job_id, why=why) from error
    return WaitExtended(wait_id=wait.wait_id, deadline=wait.deadline)


async def _restore(transaction: Transaction, params: RestoreInput) -> Restored:
    return await restore_wait(
        transaction,
        params.wait,
        scope=params.scope,
        request=params.decision,
        restored_at=params.restored_at,
        set_aside_id=params.new_id("set-aside"),
    )
