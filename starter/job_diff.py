"""A job's snapshot against its memory now: finding the wait, its hash, and what is stored."""

from collections.abc import Sequence

from temporalio.client import Client, WorkflowExecutionDescription

from mnestic.memory.differences import JobDifference, difference
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.names import job_workflow_id, wait_id
from mnestic.memory.ports import Memory
from mnestic.memory.waits import JobWait
from mnestic.starter.job_history import every, find_job, job_history, owner_of


async def diff_job(
    temporal: Client, *, job_id: str, tenant_id: str, wait: int | str | None, memory: Memory
) -> JobDifference:
    """Compares a snapshot with now; see `MnesticClient.diff_job`."""
    found = await find_job(temporal, job_workflow_id(tenant_id, job_id))
    agent_id = await owner_of(found, job_id=job_id, tenant_id=tenant_id, memory=memory)
    async with memory.transaction(
        tenant_id=tenant_id, agent_id=agent_id, actor="client", write=False
    ) as transaction:
        waits = await every(transaction.waits.list_by_job, job_id)
    asked = _choose(waits, wait, job_id=job_id)
    sha256 = await _known_hash(asked, found)
    if sha256 is None:
        timeline = await job_history(temporal, job_id=job_id, tenant_id=tenant_id, memory=memory)
        told = [e.detail for e in timeline.entries if e.detail.get("wait_id") == asked.wait_id]
        sha256 = next((detail["sha256"] for detail in told if "sha256" in detail), None)
    if sha256 is None:
        why = "nobody knows its snapshot's sha256 any more, so it cannot be verified"
        raise InvalidInputError(what=f"wait {asked.wait_id}", why=why)
    async with memory.transaction(
        tenant_id=tenant_id, agent_id=agent_id, actor="client", write=False
    ) as transaction:
        snapshot = await transaction.snapshots.get(asked.snapshot_id, sha256=sha256)
        names = [(read.namespace, read.key) for read in snapshot.read_set]
        records, versions = await transaction.records.select(names)
        return difference(
            asked,
            snapshot,
            sha256=sha256,
            working=await transaction.working.load(asked.scope.session_id),
            records=records,
            versions=versions,
            now=await transaction.now(),
        )


def _choose(waits: Sequence[JobWait], wait: int | str | None, *, job_id: str) -> JobWait:
    """The wait that is meant: the open one, else the latest, unless one is named.

    Raises:
        InvalidInputError: there is no such wait of this job.
    """
    if not waits:
        why = "has not waited yet, so there is no snapshot to compare with"
        raise InvalidInputError(what=f"job {job_id}", why=why)
    if wait is None:
        return next((one for one in waits if one.state == "waiting"), waits[-1])
    wanted = wait_id(job_id, wait) if isinstance(wait, int) else wait
    named = [one for one in waits if one.wait_id == wanted]
    if named:
        return named[0]
    if isinstance(wait, str) and wait.rpartition("/")[0] != job_id:
        raise InvalidInputError(what=f"wait {wait}", why=f"is not a wait of job {job_id}")
    known = f"waits 1 to {len(waits)}" if len(waits) > 1 else "one wait, 1"
    raise InvalidInputError(what=f"wait {wait}", why=f"is not there; job {job_id} has {known}")


async def _known_hash(wait: JobWait, found: WorkflowExecutionDescription | None) -> str | None:
    """The hash that the wait knows: by its receipt, its context, or what the job publishes."""
    if wait.receipt is not None:
        return wait.receipt.snapshot_sha256
    if wait.context.memory_snapshot is not None:
        return wait.context.memory_snapshot.sha256
    header = (await found.memo()).get("mnestic", {}) if found else {}
    sha256: str | None = header.get("sha256")
    return sha256 if header.get("wait_id") == wait.wait_id else None
