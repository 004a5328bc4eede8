"""Finds a wait of a job, and the hash that its snapshot must have."""

from typing import Any

from temporalio.client import (
    Client,
    WorkflowExecutionDescription,
    WorkflowExecutionStatus,
    WorkflowHandle,
)
from temporalio.common import SearchAttributeKey

from mnestic.memory.errors import DatabaseUnavailableError, InvalidInputError, NotFoundError
from mnestic.memory.jobs.ports import WaitStore
from mnestic.memory.jobs.waits import JobWait
from mnestic.memory.names import JOB_HEADER, wait_id, wait_number
from mnestic.memory.ports import Memory
from mnestic.starter.jobs.history import job_history
from mnestic.starter.jobs.lookup import find_job, owner_of

_MOST_DIGITS = 10
_WAIT_KEY = SearchAttributeKey.for_keyword("WaitKey")


async def hash_of_snapshot(
    wait: JobWait,
    execution: WorkflowExecutionDescription | None,
    *,
    temporal: Client,
    memory: Memory,
) -> str:
    """The hash of a wait's snapshot, from a place other than the snapshot itself.

    Raises:
        InvalidInputError: there is none, as for a wait of 0.1.0 that Temporal no longer has.
    """
    known_hash = await _known_hash(wait, execution)
    if known_hash is not None:
        return known_hash
    timeline = await job_history(
        temporal, job_id=wait.job_id, tenant_id=wait.scope.tenant_id, memory=memory
    )
    details = [e.detail for e in timeline.entries if e.detail.get("wait_id") == wait.wait_id]
    sha256: str | None = next((detail["sha256"] for detail in details if "sha256" in detail), None)
    if sha256 is None:
        why = "the sha256 of its snapshot is stored nowhere any more, so it cannot be verified"
        raise InvalidInputError(what=f"wait {wait.wait_id}", why=why)
    return sha256


async def choose_wait(waits: WaitStore, wait: int | str | None, *, job_id: str) -> JobWait:
    """The wait with a number or id; without one the latest, which may be open.

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
    full_id = wait_id(job_id, int(wait)) if number else str(wait)
    if full_id.rpartition("/")[0] != job_id:
        raise InvalidInputError(what=f"wait {wait}", why=f"is not a wait of job {job_id}")
    try:
        return await waits.get(full_id)
    except NotFoundError:
        count = wait_number(latest[0].wait_id)
        valid_waits = f"waits 1 to {count}" if count > 1 else "one wait, 1"
        why = f"does not exist; job {job_id} has {valid_waits}"
        raise InvalidInputError(what=f"wait {wait}", why=why) from None


async def find_open_wait(
    handle: WorkflowHandle[Any, Any], *, job_id: str, memory: Memory
) -> JobWait | None:
    """The wait at which a job is parked, by its row; see `MnesticClient.find_open_wait`.

    A job that was terminated leaves a row that still waits, which nobody can resume.
    """
    tenant_id = handle.id.split("/")[1]
    execution = await find_job(handle)
    agent_id = await owner_of(execution, job_id=job_id, tenant_id=tenant_id, memory=memory)
    if execution is None or execution.status is not WorkflowExecutionStatus.RUNNING:
        return None
    async with memory.transaction(
        tenant_id=tenant_id, agent_id=agent_id, actor="client", write=False
    ) as transaction:
        latest = await transaction.waits.list_latest(job_id, limit=1)
    return latest[0] if latest and latest[0].state == "waiting" else None


async def find_open_wait_id(
    handle: WorkflowHandle[Any, Any], *, job_id: str, memory: Memory
) -> str | None:
    """The id of the open wait, from its row; if Postgres does not answer, as the job publishes it."""
    try:
        wait = await find_open_wait(handle, job_id=job_id, memory=memory)
    except DatabaseUnavailableError:
        execution = await find_job(handle)
        if execution is None or execution.typed_search_attributes.get(_WAIT_KEY) is None:
            return None
        published_id: str | None = (await execution.memo()).get(JOB_HEADER, {}).get("wait_id")
        return published_id
    return wait.wait_id if wait else None


async def _known_hash(wait: JobWait, execution: WorkflowExecutionDescription | None) -> str | None:
    """The hash in the wait's receipt or context, or as the job publishes it."""
    if wait.receipt is not None:
        return wait.receipt.snapshot_sha256
    if wait.context.memory_snapshot is not None:
        return wait.context.memory_snapshot.sha256
    header = (await execution.memo()).get(JOB_HEADER, {}) if execution else {}
    sha256: str | None = header.get("sha256")
    return sha256 if header.get("wait_id") == wait.wait_id else None
