"""The embedded Temporal: its dev server with a database file, run as a child process of the runtime.

It stands alone because the flags and the readiness of this server are its business only.
"""

import time
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from google.protobuf.duration_pb2 import Duration
from temporalio.api.namespace.v1 import NamespaceConfig
from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest, UpdateNamespaceRequest
from temporalio.client import Client
from temporalio.service import RPCError

from mnestic.memory.errors import PartCrashedError, TemporalUnavailableError
from mnestic.memory.names import SEARCH_ATTRIBUTES
from mnestic.starter.embedded.connection import connect, environment_for_embedded
from mnestic.starter.embedded.crew import Crew, Part, PartSpec
from mnestic.starter.embedded.ports import LOOPBACK, choose_port, is_free, listens
from mnestic.starter.embedded.search_attributes import ensure_search_attributes

NAME = "Temporal"
RETENTION = timedelta(days=30)
FIRST_PORT, FIRST_UI_PORT = 7233, 8233
READY_LIMIT_S = 60.0
STOP_GRACE_S = 15.0
STOP_ORDER = 1
PORT_TRIES = 5


@dataclass(frozen=True, kw_only=True)
class PortWishes:
    """The ports asked for, which bind, and those of the last time, which are preferred."""

    port: int | None = None
    ui_port: int | None = None
    last_port: int | None = None
    last_ui_port: int | None = None


@dataclass(frozen=True, kw_only=True)
class TemporalAddress:
    """Where the server and its UI answer."""

    port: int
    ui_port: int

    @property
    def target(self) -> str:
        """host:port for clients."""
        return f"{LOOPBACK}:{self.port}"

    @property
    def ui(self) -> str:
        """Base address of the UI."""
        return f"http://{LOOPBACK}:{self.ui_port}"


async def start_temporal(
    program: Path, data_dir: Path, crew: Crew, *, wishes: PortWishes
) -> TemporalAddress:
    """Starts the server on `data_dir/temporal.db`; returns once it answers and is set up for jobs.

    Raises:
        InUseError: a port that was asked for is taken.
        TemporalUnavailableError: it does not answer in time.
        PartCrashedError: it ended by itself.
    """
    for _ in range(PORT_TRIES):
        address = _choose_ports(wishes)
        part = await crew.start(_spec(program, data_dir, address))
        try:
            await _until_ready(part, address)
        except PartCrashedError:
            if is_free(address.port) and is_free(address.ui_port):
                raise  # it did not lose a race for its ports, so another start would end the same way
            continue
        part.require()
        return address
    raise part.crash()


def _choose_ports(wishes: PortWishes) -> TemporalAddress:
    port = choose_port(
        wishes.port,
        option="MNESTIC_TEMPORAL_PORT",
        last=wishes.last_port,
        first=FIRST_PORT,
        but_not=wishes.ui_port,
    )
    ui_port = choose_port(
        wishes.ui_port,
        option="MNESTIC_UI_PORT",
        last=wishes.last_ui_port,
        first=FIRST_UI_PORT,
        but_not=port,
    )
    return TemporalAddress(port=port, ui_port=ui_port)


def _spec(program: Path, data_dir: Path, address: TemporalAddress) -> PartSpec:
    flags = {
        "--ip": LOOPBACK,
        "--port": str(address.port),
        "--ui-port": str(address.ui_port),
        "--db-filename": str(data_dir / "temporal.db"),
        "--log-level": "warn",
        "--log-format": "json",
    }
    repeated = [
        ("--sqlite-pragma", "journal_mode=WAL"),  # five times as fast as the default,
        ("--sqlite-pragma", "synchronous=FULL"),  # and just as durable
        ("--dynamic-config-value", "frontend.WorkflowTimeSkippingEnabled=true"),
        ("--dynamic-config-value", "matching.enableFairness=true"),
        # Turns and priorities hold within a partition. All four are still read: tasks of an earlier
        # version may be there.
        ("--dynamic-config-value", "matching.numTaskqueueWritePartitions=1"),
        *(
            ("--search-attribute", f"{name}={kind.capitalize()}")
            for name, kind in SEARCH_ATTRIBUTES.items()
        ),
    ]
    words = (word for pair in (*flags.items(), *repeated) for word in pair)
    return PartSpec(
        name=NAME,
        command=(program, "server", "start-dev", *words),
        log=data_dir / "logs" / "temporal.log",
        stop_order=STOP_ORDER,
        grace_s=STOP_GRACE_S,
        env=environment_for_embedded(),
    )


async def _until_ready(part: Part, address: TemporalAddress) -> None:
    ports = (address.port, address.ui_port)
    deadline = time.monotonic() + READY_LIMIT_S
    while True:
        try:
            if listens(part.mark.pid, *ports):  # it, and not a neighbour that was faster
                await _prepare(address)
                return
            why = "it does not listen yet"
        except (RPCError, TemporalUnavailableError) as error:
            why = str(error)
        if time.monotonic() > deadline:
            raise TemporalUnavailableError(
                where=address.target,
                why=f"it is still starting after {READY_LIMIT_S:.0f} s ({why}); its log is {part.spec.log}",
            )
        await part.pause_unless_ended()


async def _prepare(address: TemporalAddress) -> None:
    client = await connect(address.target, embedded=True)
    await _keep_closed_jobs(client)
    await ensure_search_attributes(client)


async def _keep_closed_jobs(client: Client) -> None:
    """Keeps closed jobs for 30 days; the dev server's own default is one day."""
    request = DescribeNamespaceRequest(namespace=client.namespace)
    found = await client.workflow_service.describe_namespace(request)
    if found.config.workflow_execution_retention_ttl.ToTimedelta() == RETENTION:
        return
    retention = Duration()
    retention.FromTimedelta(RETENTION)
    change = UpdateNamespaceRequest(
        namespace=client.namespace,
        config=NamespaceConfig(workflow_execution_retention_ttl=retention),
    )
    await client.workflow_service.update_namespace(change)
