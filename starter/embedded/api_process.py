"""The runtime's HTTP API: the process of `mnestic api`, ready when it answers."""

import asyncio
import sys
import time
import urllib.request
from http import HTTPStatus

from mnestic.memory.errors import ProcessCrashedError
from mnestic.starter.embedded.process_group import ManagedProcess, ProcessGroup, ProcessSpec
from mnestic.starter.embedded.process_wiring import ProcessWiring

FIRST_PORT = 8420
_READY_LIMIT_S = 60.0
_ANSWER_LIMIT_S = 5.0
_GRACE_S = 15.0  # its own grace for requests, and a little


async def start_api_process(
    processes: ProcessGroup, wiring: ProcessWiring, *, host: str, port: int
) -> ManagedProcess:
    """Starts the HTTP API; returns once it answers.

    Raises:
        ProcessCrashedError: it ended instead, or does not answer in time.
    """
    program = (sys.executable, "-P", "-c", "from mnestic.starter.cli.program import main; main()")
    spec = ProcessSpec(
        name="HTTP API",
        command=(*program, "api", f"--host={host}", f"--port={port}"),
        log=wiring.data_dir / "logs" / "api.log",
        grace_s=_GRACE_S,
        env=wiring.environment(),
    )
    async with processes.starting(spec) as part:
        await _until_ready(part, f"{url_of(host, port)}/health")
    return part


def url_of(host: str, port: int) -> str:
    """The URL of an address; one that stands for all addresses is reached by the loopback one."""
    reached = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - not bound here
    return f"http://{f'[{reached}]' if ':' in reached else reached}:{port}"


async def _until_ready(part: ManagedProcess, url: str) -> None:
    deadline = time.monotonic() + _READY_LIMIT_S
    while not await asyncio.to_thread(_answers, url):
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
