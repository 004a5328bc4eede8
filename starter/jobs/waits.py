"""Which wait of a job is meant, and the hash that its snapshot must have."""

from typing import Any

from temporalio.client import (
    Client,
    WorkflowExecutionDescription,
    WorkflowExecutionStatus,
    WorkflowHandle,
)
from temporalio.common import SearchAttributeKey

from mnestic.memory.errors import DatabaseUnavailableError, InvalidInputError, NotFoundError
from mnestic.memory.jobs.waits import JobWait
from mnestic.memory.names import JOB_HEADER, wait_id, wait_number
from mnestic.memory.ports import Memory
from mnestic.memory.store_ports import WaitStore
from mnestic.starter.jobs.history import job_history
from mnestic.starter.jobs.lookup import find_job, owner_of

_MOST_DIGITS = 10
_WAIT_KEY = SearchAttributeKey.for_keyword("WaitKey")


async def hash_of_snapshot(
    wait: JobWait,
    found: WorkflowExecutionDescription | None,
    *,
    temporal: Client,
    memory: Memory,
) -> str:
    """The hash of a wait's snapshot, from where it was kept beside the snapshot.

    Raises:
        InvalidInputError: it was not; a wait of 0.1.0 that Temporal has forgotten.
    """
    known = await _known_hash(wait, found)
    if known is not None:
        return known
    timeline = await job_history(
        temporal, job_id=wait.job_id, tenant_id=wait.scope.tenant_id, memory=memory
    )
    told = [e.detail for e in timeline.entries if e.detail.get("wait_id") == wait.wait_id]
    sha256: str | None = next((detail["sha256"] for detail in told if "sha256" in detail), None)
    if sha256 is None:
        why = "nobody knows its snapshot's sha256 any more, so it cannot be verified"
        raise InvalidInputError(what=f"wait {wait.wait_id}", why=why)
    return sha256


async def choose_wait(waits: WaitStore, wait: int | str | None, *, job_id: str) -> JobWait:
    """The wait that is meant: the latest, which may be open, unless one is named.

    Raises:
        InvalidInputError: there is no such wait of this job.
    """
    latest = await waits.list_latest(job_id, limit=1)
    if not latest:
        why = "has not waited yet, so it has no snapshot"
        raise InvalidInputError(what=f"job {job_id}", why=why)
    if wait is None:
        return latest[0]
    number = isinstance(wait, int) or (wait.isdecimal() and len(wait) < _MOST_DIGITS)
    wanted = wait_id(job_id, int(wait)) if number else str(wait)
    if wanted.rpartition("/")[0] != job_id:
        raise InvalidInputError(what=f"wait {wait}", why=f"is not a wait of job {job_id}")
    try:
        return await waits.get(wanted)
    except NotFoundError:
        count = wait_number(latest[0].wait_id)
        known = f"waits 1 to {count}" if count > 1 else "one wait, 1"
        why = f"is not there; job {job_id} has {known}"
        raise InvalidInputError(what=f"wait {wait}", why=why) from None


async def find_open_wait(
    handle: WorkflowHandle[Any, Any], *, job_id: str, memory: Memory
) -> JobWait | None:
    """The wait at which a job is parked, by its row; see `MnesticClient.find_open_wait`.

    A job that was terminated leaves a row that still waits, which nobody can resume.
    """
    tenant_id = handle.id.split("/")[1]
    found = await find_job(handle)
    agent_id = await owner_of(found, job_id=job_id, tenant_id=tenant_id, memory=memory)
    if found is None or found.status is not WorkflowExecutionStatus.RUNNING:
        return None
    async with memory.transaction(
        tenant_id=tenant_id, agent_id=agent_id, actor="client", write=False
    ) as transaction:
        latest = await transaction.waits.list_latest(job_id, limit=1)
    return latest[0] if latest and latest[0].state == "waiting" else None


async def name_open_wait(
    handle: WorkflowHandle[Any, Any], *, job_id: str, memory: Memory
) -> str | None:
    """The id of the open wait, by its row; while Postgres does not answer, by what the job shows."""
    try:
        wait = await find_open_wait(handle, job_id=job_id, memory=memory)
    except DatabaseUnavailableError:
        found = await find_job(handle)
        if found is None or found.typed_search_attributes.get(_WAIT_KEY) is None:
            return None
        shown: str | None = (await found.memo()).get(JOB_HEADER, {}).get("wait_id")
        return shown
    return wait.wait_id if wait else None


async def _known_hash(wait: JobWait, found: WorkflowExecutionDescription | None) -> str | None:
    """The hash that the wait knows: by its receipt, its context, or what the job publishes."""
    if wait.receipt is not None:
        return wait.receipt.snapshot_sha256
    if wait.context.memory_snapshot is not None:
        return wait.context.memory_snapshot.sha256
    header = (await found.memo()).get(JOB_HEADER, {}) if found else {}
    sha256: str | None = header.get("sha256")
    return sha256 if header.get("wait_id") == wait.wait_id else None
