"""Jobs as Temporal's visibility store and our waits tell of them; none of it needs a worker."""

import base64
import binascii
import hashlib
from collections.abc import Iterator
from typing import Any

from temporalio.client import (
    Client,
    WorkflowExecution,
    WorkflowExecutionDescription,
    WorkflowExecutionStatus,
)
from temporalio.common import SearchAttributeKey

from mnestic.memory.errors import InvalidInputError, JobFailedError
from mnestic.memory.jobs.agent_job import JobDescription, JobSummary
from mnestic.memory.jobs.waits import JobState
from mnestic.memory.names import JOB_HEADER, job_workflow_id, wait_number
from mnestic.memory.ports import Memory
from mnestic.memory.scope import check_id
from mnestic.starter.jobs.failing_tasks import find_failing_task
from mnestic.starter.jobs.results import job_result
from mnestic.starter.jobs.selection import JobSelection
from mnestic.starter.payloads.decoding import decoded

_SUM_BYTES = 8

_ENDED: dict[WorkflowExecutionStatus, JobState] = {
    WorkflowExecutionStatus.COMPLETED: "completed",
    WorkflowExecutionStatus.FAILED: "failed",
    WorkflowExecutionStatus.TIMED_OUT: "failed",
    WorkflowExecutionStatus.CANCELED: "cancelled",
    WorkflowExecutionStatus.TERMINATED: "terminated",
}


async def list_jobs(
    temporal: Client, *, tenant_id: str, select: JobSelection, limit: int, cursor: str | None
) -> tuple[tuple[JobSummary, ...], str | None]:
    """One page of jobs, latest first; see `MnesticClient.list_jobs`."""
    check_id(tenant_id, what="tenant")
    query = " AND ".join([f"TenantId = '{tenant_id}'", "JobState IS NOT NULL", *select.terms()])
    found = temporal.list_workflows(
        query, page_size=limit, limit=limit, next_page_token=_token(cursor)
    )
    await found.fetch_next_page()
    jobs = tuple(_summary(execution) for execution in found.current_page or ())
    following = found.next_page_token
    return jobs, _cursor(following) if following else None


async def list_job_ids(
    temporal: Client, prefix: str, *, tenant_id: str, limit: int
) -> tuple[str, ...]:
    """The ids of jobs that begin so and that Temporal has."""
    start = job_workflow_id(check_id(tenant_id, what="tenant"), check_id(prefix, what="job id"))
    query = (
        f"TenantId = '{tenant_id}' AND JobState IS NOT NULL AND WorkflowId STARTS_WITH '{start}'"
    )
    query += " AND ExecutionStatus != 'ContinuedAsNew'"
    return tuple(
        [found.id.rpartition("/")[2] async for found in temporal.list_workflows(query, limit=limit)]
    )


async def describe_job(
    temporal: Client,
    found: WorkflowExecutionDescription,
    *,
    job_id: str,
    tenant_id: str,
    memory: Memory,
) -> JobDescription:
    """A job and its waits; see `MnesticClient.describe_job`.

    Its tenant is the client's, whatever the workflow publishes of itself.
    """
    summary = _summary(found)
    memo = await found.memo()
    header = memo.get(JOB_HEADER, {})
    agent_id = agent_of(found)
    async with memory.transaction(
        tenant_id=tenant_id, agent_id=agent_id, actor="client", write=False
    ) as transaction:
        waits = await transaction.waits.list_latest(job_id)
    return JobDescription(
        **summary.model_dump(),
        plan=memo.get("plan") or found.workflow_type,
        failure=await _failure(temporal, found) if summary.state == "failed" else None,
        run_id=found.run_id,
        **(_attention(header) if summary.state == "needs_attention" else {}),
        failing=await find_failing(temporal, found),
        earlier_waits=wait_number(waits[0].wait_id) - 1 if waits else 0,
        waits=waits,
        forked_from=memo.get("forked_from"),
    )


async def _failure(temporal: Client, found: WorkflowExecutionDescription) -> str:
    """Why a job failed."""
    try:
        await job_result(
            temporal.get_workflow_handle(found.id, run_id=found.run_id),
            job_id=found.id.rpartition("/")[2],
        )
    except JobFailedError as error:
        return error.why
    return "Temporal says that it failed, and has its result"


def agent_of(found: WorkflowExecutionDescription) -> str:
    """The agent of a job, as it publishes it; empty if it does not."""
    return _keyword(found, "AgentId") or ""


async def find_failing(temporal: Client, found: WorkflowExecutionDescription) -> tuple[str, ...]:
    """What of a workflow is being tried again, its own task first, each with its last failure."""
    await decoded(found.raw_description, temporal)
    task = await find_failing_task(temporal, found)
    return (*(() if task is None else (task,)), *_failing_activities(found))


def _failing_activities(found: WorkflowExecutionDescription) -> Iterator[str]:
    for pending in found.raw_description.pending_activities:
        if pending.HasField("last_failure"):
            name, why = pending.activity_type.name, pending.last_failure.message
            yield f"{name}, attempt {pending.attempt}: {why}"


def _summary(found: WorkflowExecution) -> JobSummary:
    ended = _ENDED.get(found.status) if found.status else None
    state = ended or _keyword(found, "JobState") or "running"
    deadline = found.typed_search_attributes.get(SearchAttributeKey.for_datetime("WaitDeadline"))
    return JobSummary.model_validate(
        {
            "job_id": found.id.rpartition("/")[2],
            "agent_id": _keyword(found, "AgentId") or "",
            "session_id": _keyword(found, "SessionId") or "",
            "state": state,
            "wait_key": None if ended else _keyword(found, "WaitKey"),
            "deadline": None if ended else deadline,
            "started_at": found.start_time,
            "closed_at": found.close_time,
        }
    )


def _attention(header: dict[str, Any]) -> dict[str, Any]:
    """Why a job needs attention, and which requests it keeps meanwhile."""
    return {"attention": header.get("attention"), "deferred": header.get("kept", ())}


def _keyword(found: WorkflowExecution, name: str) -> str | None:
    return found.typed_search_attributes.get(SearchAttributeKey.for_keyword(name))


def _cursor(token: bytes) -> str:
    """A cursor of ours: Temporal's token behind a sum of it, since Temporal calls a wrong one its own failure."""
    return base64.urlsafe_b64encode(_sum(token) + token).decode()


def _token(cursor: str | None) -> bytes | None:
    """Temporal's token in a cursor.

    Raises:
        InvalidInputError: the cursor was not given by this list.
    """
    if cursor is None:
        return None
    try:
        read = base64.b64decode(cursor, altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        read = b""
    token = read[_SUM_BYTES:]
    if not token or read[:_SUM_BYTES] != _sum(token):
        raise InvalidInputError(what="cursor", why="was not given by this list; begin without one")
    return token


def _sum(token: bytes) -> bytes:
    return hashlib.sha256(b"jobs" + token).digest()[:_SUM_BYTES]
