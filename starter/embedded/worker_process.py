"""The runtime's workers, one of jobs and one of maintenance: processes like any other worker, ready when Temporal sees them poll.

They are the parts that are killed and started again while the others go on.
"""

import sys
import time

from temporalio.api.enums.v1 import TaskQueueType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest
from temporalio.client import Client
from temporalio.service import RPCError

from mnestic.memory.errors import TemporalUnavailableError
from mnestic.memory.names import maintenance_queue
from mnestic.starter.embedded.connection import connect
from mnestic.starter.embedded.process_group import ManagedProcess, ProcessGroup, ProcessSpec
from mnestic.starter.embedded.process_wiring import ProcessWiring
from mnestic.starter.settings import WorkerRole

WORKER, MAINTENANCE_WORKER = "worker", "maintenance worker"
READY_LIMIT_S = 60.0
STOP_ORDER = 0
_GRACE_S = 40.0  # its own grace for activities, and a little


async def start_worker_process(
    processes: ProcessGroup,
    wiring: ProcessWiring,
    *,
    serves: WorkerRole = "jobs",
    prometheus_address: str | None = None,
    command: tuple[str, ...] = (sys.executable, "-P", "-m", "mnestic.worker"),
) -> ManagedProcess:
    """Starts a worker; returns once it polls.

    Args:
        processes: Where it is recorded.
        wiring: Where its servers are.
        serves: What it does.
        prometheus_address: Where it serves metrics; that of maintenance does so on the next port.
        command: The program; -P, as the working directory may have modules with the names of others.

    Raises:
        ProcessCrashedError: it ended instead.
        TemporalUnavailableError: it does not poll in time.
    """
    client = await connect(wiring.temporal_address, embedded=wiring.embedded)
    is_maintenance = serves == "maintenance"
    variables: dict[str, str] = {"MNESTIC_WORKER_SERVES": serves}
    if is_maintenance and prometheus_address is not None:
        variables["MNESTIC_PROMETHEUS_ADDRESS"] = next_port(prometheus_address)
    spec = ProcessSpec(
        name=MAINTENANCE_WORKER if is_maintenance else WORKER,
        command=command,
        log=wiring.data_dir / "logs" / ("maintenance.log" if is_maintenance else "worker.log"),
        stop_order=STOP_ORDER,
        grace_s=_GRACE_S,
        env={**wiring.environment(), **variables},
    )
    queue = maintenance_queue(wiring.task_queue) if is_maintenance else wiring.task_queue
    async with processes.starting(spec) as part:
        await _until_ready(part, client, queue, address=wiring.temporal_address)
    return part


def next_port(address: str) -> str:
    """An address with the next port; one without a port stays as it is, and the worker refuses it."""
    host, _, port = address.rpartition(":")
    return f"{host}:{int(port) + 1}" if port.isdecimal() else address


async def _until_ready(part: ManagedProcess, client: Client, queue: str, *, address: str) -> None:
    deadline = time.monotonic() + READY_LIMIT_S
    while not await _polls(client, part.mark.pid, queue):
        if time.monotonic() > deadline:
            raise TemporalUnavailableError(
                where=address,
                why=f"the {part.spec.name} does not poll task queue {queue} after "
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
