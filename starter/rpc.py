"""Calls of Temporal's own API: their errors become ours, and who polls a task queue."""

from collections.abc import Iterator
from contextlib import contextmanager

from temporalio.api.enums.v1 import TaskQueueType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from mnestic.memory.errors import (
    ConfigurationError,
    InvalidInputError,
    JobStuckError,
    NotFoundError,
    SearchAttributesMissingError,
    TemporalUnavailableError,
)

_NOT_ALLOWED = frozenset({RPCStatusCode.PERMISSION_DENIED, RPCStatusCode.UNAUTHENTICATED})


@contextmanager
def rpc_errors(where: str, *, job_id: str) -> Iterator[None]:
    """Turns errors of a call to Temporal into ours.

    Raises:
        NotFoundError: Temporal knows no such job.
        InvalidInputError: Temporal refuses the request.
        ConfigurationError: Temporal refuses us.
        JobStuckError: no worker can run the job's code.
        SearchAttributesMissingError: jobs cannot be found there.
        TemporalUnavailableError: Temporal does not answer.
    """
    try:
        yield
    except RPCError as error:
        if error.status is RPCStatusCode.NOT_FOUND:
            over = "already completed" in error.message
            raise NotFoundError(what="running job" if over else "job", name=job_id) from error
        if error.status is RPCStatusCode.INVALID_ARGUMENT and "search attribute" in error.message:
            raise SearchAttributesMissingError(where=where, why=error.message) from error
        if error.status is RPCStatusCode.INVALID_ARGUMENT:
            raise InvalidInputError(what=f"job {job_id}", why=error.message) from error
        if error.status is RPCStatusCode.FAILED_PRECONDITION:
            raise JobStuckError(job_id=job_id, why=error.message) from error
        if error.status in _NOT_ALLOWED:
            raise ConfigurationError(setting="TEMPORAL_API_KEY", why=error.message) from error
        raise TemporalUnavailableError(where=where, why=error.message) from error


async def find_pollers(client: Client, queue: str) -> tuple[str, ...]:
    """The identities of the workers that have polled a task queue within minutes, for workflows or for activities.

    A worker whose activities are all it may do at once polls for workflows alone.

    Raises:
        RPCError: Temporal does not answer.
    """
    identities = set[str]()
    for kind in (
        TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW,
        TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY,
    ):
        request = DescribeTaskQueueRequest(
            namespace=client.namespace, task_queue=TaskQueue(name=queue), task_queue_type=kind
        )
        answer = await client.workflow_service.describe_task_queue(request)
        identities |= {poller.identity for poller in answer.pollers}
    return tuple(sorted(identities))
