"""Forking: a job that begins with the memory of another one's wait."""

from pydantic import BaseModel, ConfigDict
from temporalio import activity

from mnestic.activities.failures import failures
from mnestic.activities.operations import OperationInput, run_once
from mnestic.memory.errors import AlreadyExistsError
from mnestic.memory.jobs.long_term.records import count_records
from mnestic.memory.jobs.waits import ForkOrigin
from mnestic.memory.ports import Memory, Transaction
from mnestic.memory.scope import Id


class ForkInput(OperationInput):
    """Whose memory to take, for which job; the scope's session is the new job's own."""

    job_id: Id
    origin: ForkOrigin


class ForkResult(BaseModel):
    """What was taken over."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    message_count: int
    record_count: int
    memory_version: int


class ForkActivities:
    """Taking over the memory of a wait."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    @activity.defn(name="mnestic.fork")
    async def fork(self, params: ForkInput) -> ForkResult:
        """Copies a snapshot's working memory into a new session, and its read set to the new job.

        Refuses a job that has done something already: its read set would be written over.

        Idempotent: by the operation's key, in the transaction of the writes.
        """
        with failures():
            owner = await self._memory.find_agent(
                tenant_id=params.scope.tenant_id, job_id=params.job_id
            )
            if owner not in (None, params.scope.agent_id):
                raise AlreadyExistsError(what="job", name=params.job_id)
            return await run_once(
                self._memory, params, ForkResult, work=lambda tx: _fork(tx, params)
            )


async def _fork(transaction: Transaction, params: ForkInput) -> ForkResult:
    session_id, origin = params.scope.session_id, params.origin
    await _refuse_known(transaction, params)
    sealed = await transaction.snapshots.get(origin.snapshot_id, sha256=origin.sha256)
    snapshot = sealed.read()
    state = await transaction.working.load(session_id, lock=True)
    if state.version:
        raise AlreadyExistsError(what="working memory of session", name=session_id)
    forked = snapshot.working_memory.model_copy(update={"version": 0})
    if forked.segments is not None:
        forked = forked.with_segments(forked.segments.of_fork(origin.job_id, params.job_id))
    state = await transaction.working.save(session_id, forked.with_checkpoint(origin.snapshot_id))
    await transaction.reader_defaults.inherit(session_id, wait_id=origin.wait_id)
    await transaction.records.add_reads(params.job_id, snapshot.read_set)
    what_is_left = " (what is left of its snapshot)" if sealed.redacted_at else ""
    transaction.note("job.fork", params.job_id, reason=f"from {origin.wait_id}{what_is_left}")
    return ForkResult(
        message_count=len(state.messages),
        record_count=count_records(snapshot.read_set),
        memory_version=state.version,
    )


async def _refuse_known(transaction: Transaction, params: ForkInput) -> None:
    """Refuses the id of a job that has done more than to ask for this, or is just being forked to."""
    reads = await transaction.records.list_reads(params.job_id, lock=True)
    done, _ = await transaction.list_operations(params.job_id, limit=2)
    if reads or any(each.key != params.operation.key for each in done):
        raise AlreadyExistsError(what="job", name=params.job_id)
