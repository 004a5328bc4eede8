"""Asks the worker of a job where the job is in its plan.

Temporal's visibility store has a job's state but not its node, so that only a query tells it.
"""

from datetime import timedelta
from typing import Any

from temporalio.client import WorkflowHandle, WorkflowQueryFailedError
from temporalio.service import RPCError, RPCStatusCode

from mnestic.memory.jobs.agent_job import JobStatus
from mnestic.memory.names import STATUS

_PATIENCE = timedelta(seconds=2)  # a running worker answers sooner
_NO_WORKER = frozenset(
    {
        RPCStatusCode.CANCELLED,
        RPCStatusCode.DEADLINE_EXCEEDED,
        RPCStatusCode.FAILED_PRECONDITION,  # nobody has polled the task queue for a while
    }
)


async def find_status(handle: WorkflowHandle[Any, Any]) -> JobStatus | None:
    """See `MnesticClient.find_job_status`."""
    try:
        status: JobStatus = await handle.query(STATUS, result_type=JobStatus, rpc_timeout=_PATIENCE)
    except WorkflowQueryFailedError:  # a workflow of the user's own has no such query
        return None
    except RPCError as error:
        if error.status not in _NO_WORKER:
            raise
        return None
    return status
