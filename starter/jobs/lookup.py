"""Finds a job and its agent, also when Temporal no longer has the job."""

from typing import Any

from temporalio.client import WorkflowExecutionDescription, WorkflowHandle
from temporalio.service import RPCError, RPCStatusCode

from mnestic.memory.errors import NotFoundError
from mnestic.memory.ports import Memory
from mnestic.starter.jobs.listing import agent_of


async def find_job(handle: WorkflowHandle[Any, Any]) -> WorkflowExecutionDescription | None:
    """The job as Temporal has it; None if Temporal no longer has it."""
    try:
        return await handle.describe()
    except RPCError as error:
        if error.status is not RPCStatusCode.NOT_FOUND:
            raise
        return None


async def owner_of(
    execution: WorkflowExecutionDescription | None, *, job_id: str, tenant_id: str, memory: Memory
) -> str:
    """The agent of a job, also if Temporal no longer has the job.

    Raises:
        NotFoundError: there is no such job.
    """
    agent_id = agent_of(execution) if execution else ""
    agent_id = agent_id or await memory.find_agent(tenant_id=tenant_id, job_id=job_id) or ""
    if not agent_id:
        raise NotFoundError(what="job", name=job_id)
    return agent_id
