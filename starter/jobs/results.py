"""The result of a job."""

from typing import Any

from temporalio.client import WorkflowFailureError, WorkflowHandle
from temporalio.exceptions import ApplicationError, CancelledError, TerminatedError

from mnestic.memory.errors import JobFailedError
from mnestic.memory.jobs.agent_job import JobResult


async def job_result(handle: WorkflowHandle[Any, JobResult], *, job_id: str) -> JobResult:
    """Waits for the result; see `MnesticClient.wait_for_result`."""
    try:
        return await handle.result()
    except WorkflowFailureError as error:
        raise _failed(job_id, error) from None


def _failed(job_id: str, error: WorkflowFailureError) -> JobFailedError:
    cause = error.cause
    if isinstance(cause, CancelledError):
        return JobFailedError(job_id=job_id, how="was cancelled", why="by request")
    if isinstance(cause, TerminatedError):
        return JobFailedError(job_id=job_id, how="was terminated", why=str(cause))
    why = cause.message if isinstance(cause, ApplicationError) else str(cause)
    return JobFailedError(job_id=job_id, how="failed", why=why)
