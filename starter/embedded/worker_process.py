"""The runtime's worker: a process like any other worker, ready when Temporal sees it poll.

It stands alone because it is the one part that is killed and started again while the others go on.
"""

import sys
import time

from temporalio.api.enums.v1 import TaskQueueType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest
from temporalio.client import Client
from temporalio.service import RPCError

from mnestic.memory.errors import TemporalUnavailableError
from mnestic.starter.embedded.connection import connect
from mnestic.starter.embedded.process_group import ManagedProcess, ProcessGroup, ProcessSpec
from mnestic.starter.embedded.process_wiring import ProcessWiring

NAME = "worker"
READY_LIMIT_S = 60.0
STOP_ORDER = 0


async def start_worker_process(
    processes: ProcessGroup,
    wiring: ProcessWiring,
    *,
    shutdown_s: float,
    command: tuple[str, ...] = (sys.executable, "-P", "-m", "mnestic.worker"),
) -> ManagedProcess:
    """Starts a worker; returns once it polls.

    Args:
        processes: Where it is recorded.
        wiring: Where its servers are.
        shutdown_s: How long its activities may take to end, in seconds.
        command: The program; -P, as the working directory may have modules with the names of others.

    Raises:
        ProcessCrashedError: it ended instead.
        TemporalUnavailableError: it does not poll in time.
    """
    client = await connect(wiring.temporal_address, embedded=wiring.embedded)
    spec = ProcessSpec(
        name=NAME,
        command=command,
        log=wiring.data_dir / "logs" / "worker.log",
        stop_order=STOP_ORDER,
        grace_s=shutdown_s + 10,
        env=wiring.environment(),
    )
    async with processes.starting(spec) as part:
        await _until_ready(part, client, wiring)
    return part


async def _until_ready(part: ManagedProcess, client: Client, wiring: ProcessWiring) -> None:
    deadline = time.monotonic() + READY_LIMIT_S
    while not await _polls(client, part.mark.pid, wiring.task_queue):
        if time.monotonic() > deadline:
            raise TemporalUnavailableError(
                where=wiring.temporal_address,
                why=f"the worker does not poll task queue {wiring.task_queue} after "
                f"{READY_LIMIT_S:.0f} s; its log is {part.spec.log}",
            )
        await part.pause_unless_ended()


async def _polls(client: Client, pid: int, task_queue: str) -> bool:
    """Whether a worker of that pid polls for workflow tasks; identities begin with `pid@`."""
    request = DescribeTaskQueueRequest(
        namespace=client.namespace,
        task_queue=TaskQueue(name=task_queue),
        task_queue_type=TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW,
    )
    try:
        # retry: a server that has just started, or is under load, may refuse for a moment
        answer = await client.workflow_service.describe_task_queue(request, retry=True)
    except RPCError as error:
        raise TemporalUnavailableError(where="its task queues", why=error.message) from error
    return any(poller.identity.startswith(f"{pid}@") for poller in answer.pollers)
