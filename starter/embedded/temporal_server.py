"""The embedded Temporal: its dev server with a database file, run as a child process of the runtime.

The flags and the readiness of this server are its business only.
"""

import time
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple, Self

from google.protobuf.duration_pb2 import Duration
from temporalio.api.namespace.v1 import NamespaceConfig
from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest, UpdateNamespaceRequest
from temporalio.client import Client
from temporalio.service import RPCError

from mnestic.memory.errors import ProcessCrashedError, TemporalUnavailableError
from mnestic.memory.names import SEARCH_ATTRIBUTES
from mnestic.starter.embedded.connection import connect, environment_for_embedded
from mnestic.starter.embedded.ports import (
    LOOPBACK,
    PORT_TRIES,
    choose_port,
    choose_socket_folder,
    find_hidden_port,
    is_free,
    listens,
)
from mnestic.starter.embedded.process_group import ManagedProcess, ProcessGroup, ProcessSpec
from mnestic.starter.embedded.search_attributes import ensure_search_attributes

NAME = "Temporal"
RETENTION = timedelta(days=30)
FIRST_PORT = 7233
READY_LIMIT_S = 60.0
STOP_GRACE_S = 15.0
STOP_ORDER = 1
NO_HOST = "/"  # is in no valid Host header, so that the HTTP API answers no request


@dataclass(frozen=True, kw_only=True)
class TemporalServer:
    """A server that answers, and where. Web pages do not reach `hidden_ui`."""

    part: ManagedProcess
    port: int
    hidden_ui: tuple[str, int]

    @property
    def target(self) -> str:
        """host:port for clients."""
        return f"{LOOPBACK}:{self.port}"


async def start_temporal(
    program: Path,
    data_dir: Path,
    processes: ProcessGroup,
    *,
    port: int | None = None,
    last: int | None = None,
) -> TemporalServer:
    """Starts the server on `data_dir/temporal.db`; returns once it answers and is set up for jobs.

    Args:
        program: The `temporal` command.
        data_dir: The directory of its database and its log.
        processes: Who starts it.
        port: The port to answer at; None for `last` or else the first free one from 7233 on.
        last: The port of the last time.

    Raises:
        InUseError: the requested port is taken.
        TemporalUnavailableError: it does not answer in time.
        ProcessCrashedError: it ended by itself.
    """
    for _ in range(PORT_TRIES):
        ports = _Ports.choose(port, last)
        try:
            async with processes.starting(_spec(program, data_dir, ports)) as part:
                await _until_ready(part, ports)
        except ProcessCrashedError as error:
            if ports.are_free():
                raise  # it did not lose a race for its ports, so another start would end the same way
            crash = error
            continue
        return TemporalServer(part=part, port=ports.port, hidden_ui=ports.ui)
    raise crash


class _Ports(NamedTuple):
    """The ports of one start; without `http`, the server takes a random one."""

    port: int
    ui: tuple[str, int]
    http: int | None

    @classmethod
    def choose(cls, port: int | None, last: int | None) -> Self:
        return cls(
            choose_port(
                port,
                option="`mnestic up --port`, or MNESTIC_TEMPORAL_PORT",
                last=last,
                first=FIRST_PORT,
            ),
            choose_socket_folder(),
            find_hidden_port(),
        )

    def are_free(self) -> bool:
        host, ui_port = self.ui
        others = (self.port,) if self.http is None else (self.port, self.http)
        return is_free(ui_port, host) and all(is_free(port) for port in others)


def _spec(program: Path, data_dir: Path, ports: _Ports) -> ProcessSpec:
    host, ui_port = ports.ui
    flags = {
        "--ip": LOOPBACK,
        "--port": str(ports.port),
        "--ui-ip": host,
        "--ui-port": str(ui_port),
        "--db-filename": str(data_dir / "temporal.db"),
        "--log-level": "warn",
        "--log-format": "json",
    }
    if ports.http is not None:
        flags["--http-port"] = str(ports.http)
    repeated = [
        ("--sqlite-pragma", "journal_mode=WAL"),  # five times as fast as the default,
        ("--sqlite-pragma", "synchronous=FULL"),  # and just as durable
        ("--dynamic-config-value", f'frontend.httpAllowedHosts=["{NO_HOST}"]'),
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
    return ProcessSpec(
        name=NAME,
        command=(program, "server", "start-dev", *words),
        log=data_dir / "logs" / "temporal.log",
        stop_order=STOP_ORDER,
        grace_s=STOP_GRACE_S,
        env=environment_for_embedded(),
    )


async def _until_ready(part: ManagedProcess, ports: _Ports) -> None:
    target = f"{LOOPBACK}:{ports.port}"
    deadline = time.monotonic() + READY_LIMIT_S
    while True:
        try:
            # it, and not a neighbour that was faster
            if listens(part.mark.pid, ports.port, ports.ui[1]):
                await _prepare(target)
                return
            why = "it does not listen yet"
        except (RPCError, TemporalUnavailableError) as error:
            why = str(error)
        if time.monotonic() > deadline:
            raise TemporalUnavailableError(
                where=target,
                why=f"it is still starting after {READY_LIMIT_S:.0f} s ({why}); its log is {part.spec.log}",
            )
        await part.pause_unless_ended()


async def _prepare(target: str) -> None:
    client = await connect(target, embedded=True)
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
