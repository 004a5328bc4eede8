"""Who polls a task queue."""

from temporalio.api.enums.v1 import TaskQueueType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest
from temporalio.client import Client


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
