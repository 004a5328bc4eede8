"""Lists and describes jobs, from Temporal's visibility store and the waits in the database; needs no worker."""

import asyncio
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
UNFINISHED: tuple[JobState, ...] = ("running", "waiting", "paused", "needs_attention")

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
    pages = temporal.list_workflows(
        query, page_size=limit, limit=limit, next_page_token=_token(cursor)
    )
    await pages.fetch_next_page()
    jobs = tuple(_summary(execution) for execution in pages.current_page or ())
    next_token = pages.next_page_token
    return jobs, _cursor(next_token) if next_token else None


async def count_jobs(temporal: Client, *, tenant_id: str) -> dict[str, int]:
    """The number of a tenant's jobs in each state before their end.

    Raises:
        RPCError: Temporal does not answer.
    """
    of_tenant = f"TenantId = '{check_id(tenant_id, what='tenant')}'"
    queries = (
        " AND ".join((of_tenant, *JobSelection(state=state).terms())) for state in UNFINISHED
    )
    counts = await asyncio.gather(*(temporal.count_workflows(query) for query in queries))
    return {state: one.count for state, one in zip(UNFINISHED, counts, strict=True)}


async def list_job_ids(
    temporal: Client, prefix: str, *, tenant_id: str, limit: int
) -> tuple[str, ...]:
    """The ids with a prefix of jobs that Temporal has."""
    id_prefix = job_workflow_id(check_id(tenant_id, what="tenant"), check_id(prefix, what="job id"))
    query = f"TenantId = '{tenant_id}' AND JobState IS NOT NULL AND WorkflowId STARTS_WITH '{id_prefix}'"
    query += " AND ExecutionStatus != 'ContinuedAsNew'"
    return tuple(
        [
            execution.id.rpartition("/")[2]
            async for execution in temporal.list_workflows(query, limit=limit)
        ]
    )


async def describe_job(
    temporal: Client,
    execution: WorkflowExecutionDescription,
    *,
    job_id: str,
    tenant_id: str,
    memory: Memory,
) -> JobDescription:
    """A job and its waits; see `MnesticClient.describe_job`.

    The tenant is the client's, whatever the workflow publishes.
    """
    summary = _summary(execution)
    memo = await execution.memo()
    header = memo.get(JOB_HEADER, {})
    agent_id = agent_of(execution)
    async with memory.transaction(
        tenant_id=tenant_id, agent_id=agent_id, actor="client", write=False
    ) as transaction:
        waits = await transaction.waits.list_latest(job_id)
        segments = await transaction.working.find_segments(summary.session_id)
    return JobDescription(
        **summary.model_dump(),
        plan=memo.get("plan") or execution.workflow_type,
        failure=await _failure(temporal, execution) if summary.state == "failed" else None,
        run_id=execution.run_id,
        **(_attention(header) if summary.state == "needs_attention" else {}),
        failing=await find_failing(temporal, execution),
        earlier_waits=wait_number(waits[0].wait_id) - 1 if waits else 0,
        waits=waits,
        forked_from=memo.get("forked_from"),
        segments=segments.report(job_id=job_id) if segments else None,
    )


async def _failure(temporal: Client, execution: WorkflowExecutionDescription) -> str:
    """Why a job failed."""
    try:
        await job_result(
            temporal.get_workflow_handle(execution.id, run_id=execution.run_id),
            job_id=execution.id.rpartition("/")[2],
        )
    except JobFailedError as error:
        return error.why
    return "Temporal says that it failed, and has its result"


def agent_of(execution: WorkflowExecutionDescription) -> str:
    """The agent that a job publishes; empty if it publishes none."""
    return _keyword(execution, "AgentId") or ""


async def find_failing(
    temporal: Client, execution: WorkflowExecutionDescription
) -> tuple[str, ...]:
    """The failing parts of a workflow that are retried, its own task first, each with its last failure."""
    await decoded(execution.raw_description, temporal)
    task = await find_failing_task(temporal, execution)
    return (*(() if task is None else (task,)), *_failing_activities(execution))


def _failing_activities(execution: WorkflowExecutionDescription) -> Iterator[str]:
    for pending in execution.raw_description.pending_activities:
        if pending.HasField("last_failure"):
            name, why = pending.activity_type.name, pending.last_failure.message
            yield f"{name}, attempt {pending.attempt}: {why}"


def _summary(execution: WorkflowExecution) -> JobSummary:
    ended = _ENDED.get(execution.status) if execution.status else None
    state = ended or _keyword(execution, "JobState") or "running"
    deadline = execution.typed_search_attributes.get(
        SearchAttributeKey.for_datetime("WaitDeadline")
    )
    return JobSummary.model_validate(
        {
            "job_id": execution.id.rpartition("/")[2],
            "agent_id": _keyword(execution, "AgentId") or "",
            "session_id": _keyword(execution, "SessionId") or "",
            "state": state,
            "wait_key": None if ended else _keyword(execution, "WaitKey"),
            "deadline": None if ended else deadline,
            "started_at": execution.start_time,
            "closed_at": execution.close_time,
        }
    )


def _attention(header: dict[str, Any]) -> dict[str, Any]:
    """Why a job needs attention, and the requests that it has deferred."""
    return {"attention": header.get("attention"), "deferred": header.get("kept", ())}


def _keyword(execution: WorkflowExecution, name: str) -> str | None:
    return execution.typed_search_attributes.get(SearchAttributeKey.for_keyword(name))


def _cursor(token: bytes) -> str:
    """A cursor: a checksum and Temporal's token, since Temporal reports a wrong token as its own failure."""
    return base64.urlsafe_b64encode(_sum(token) + token).decode()


def _token(cursor: str | None) -> bytes | None:
    """Temporal's token in a cursor.

    Raises:
        InvalidInputError: the cursor was not given by this list.
    """
    if cursor is None:
        return None
    try:
        decoded_cursor = base64.b64decode(cursor, altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        decoded_cursor = b""
    token = decoded_cursor[_SUM_BYTES:]
    if not token or decoded_cursor[:_SUM_BYTES] != _sum(token):
        raise InvalidInputError(what="cursor", why="was not given by this list; begin without one")
    return token


def _sum(token: bytes) -> bytes:
    return hashlib.sha256(b"jobs" + token).digest()[:_SUM_BYTES]
