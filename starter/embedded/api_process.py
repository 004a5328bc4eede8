"""The runtime's HTTP API: the process of `mnestic api`, ready when it answers."""

import asyncio
import sys
import time
import urllib.request
from http import HTTPStatus
from typing import NamedTuple

from mnestic.memory.errors import ProcessCrashedError
from mnestic.starter.embedded.ports import PORT_TRIES, choose_port, is_free, listens
from mnestic.starter.embedded.process_group import ManagedProcess, ProcessGroup, ProcessSpec
from mnestic.starter.embedded.process_wiring import ProcessWiring

FIRST_PORT = 8420
_READY_LIMIT_S = 60.0
_ANSWER_LIMIT_S = 5.0
_GRACE_S = 15.0  # its own grace for requests, and a little


class ApiServer(NamedTuple):
    """The process and its port."""

    part: ManagedProcess
    port: int


async def start_api(
    processes: ProcessGroup,
    wiring: ProcessWiring,
    *,
    host: str,
    port: int | None = None,
    last: int | None = None,
) -> ApiServer:
    """Starts the HTTP API; returns once it answers.

    Args:
        processes: Where it is recorded.
        wiring: Where its servers are.
        host: The address to listen on.
        port: The port; None for `last` or else the first free one from 8420 on.
        last: The port of the last time.

    Raises:
        InUseError: the requested port is taken.
        ProcessCrashedError: it ended instead, or does not answer in time.
    """
    for _ in range(PORT_TRIES):
        chosen = choose_port(
            port,
            option="`mnestic up --api-port`, or MNESTIC_HTTP_PORT",
            last=last,
            first=FIRST_PORT,
        )
        try:
            async with processes.starting(_spec(wiring, host=host, port=chosen)) as part:
                await _until_ready(part, chosen, url=f"{url_of(host, chosen)}/v1/health")
        except ProcessCrashedError as error:
            if is_free(chosen):
                raise  # it did not lose a race for its port, so another start would end the same way
            crash = error
            continue
        return ApiServer(part=part, port=chosen)
    raise crash


def _spec(wiring: ProcessWiring, *, host: str, port: int) -> ProcessSpec:
    program = (sys.executable, "-P", "-c", "from mnestic.starter.cli.program import main; main()")
    return ProcessSpec(
        name="HTTP API",
        command=(*program, "api", f"--host={host}", f"--port={port}"),
        log=wiring.data_dir / "logs" / "api.log",
        grace_s=_GRACE_S,
        env=wiring.environment(),
    )


def url_of(host: str, port: int) -> str:
    """The URL of an address; one that stands for all addresses is reached by the loopback one."""
    reached = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - not bound here
    return f"http://{f'[{reached}]' if ':' in reached else reached}:{port}"


async def _until_ready(part: ManagedProcess, port: int, *, url: str) -> None:
    deadline = time.monotonic() + _READY_LIMIT_S
    while not (listens(part.mark.pid, port) and await asyncio.to_thread(_answers, url)):
        if time.monotonic() > deadline:
            why = (
                f"does not answer at {url} after {_READY_LIMIT_S:.0f} s; its log is {part.spec.log}"
            )
            raise ProcessCrashedError(part=part.spec.name, why=why)
        await part.pause_unless_ended()


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=_ANSWER_LIMIT_S) as answer:  # noqa: S310 - http
            return bool(answer.status == HTTPStatus.OK)
    except OSError:  # it does not listen yet
        return False
