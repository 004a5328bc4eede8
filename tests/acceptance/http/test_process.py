"""`mnestic api` as a process: it refuses a taken port, and a signal ends it without breaking what is open."""

import json
import signal
import socket
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest

from mnestic.memory.knowledge.entries import EntryQuery
from mnestic.starter.client.mnestic_client import MnesticClient

pytestmark = pytest.mark.acceptance

LIMIT_S = 60.0
MESSAGE = {"speaker": "Mara", "content": "I moved to Porto.", "session_id": "s"}


@pytest.fixture
def taken_port() -> Iterator[int]:
    """A port on which somebody listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


def test_a_taken_port_is_one_clear_error(
    processes: Any, mnestic: str, environment: dict[str, str], taken_port: int
) -> None:
    done = processes.run(mnestic, "api", "--port", str(taken_port), env=environment)

    (error,) = done.errors
    assert done.code == 2
    assert f"127.0.0.1:{taken_port}" in error
    assert "--port" in error
    assert "Traceback" not in done.err


async def test_a_signal_ends_streams_and_lets_requests_be_answered(
    start_api: Callable[[], tuple[Any, str]], client: MnesticClient
) -> None:
    issued = await client.api_keys().create(agents=["ada"], actions=["read", "write"])
    await client.memory("ada").add("Mara lives in Porto.")
    headers = {"Authorization": f"Bearer {issued.text}"}
    running, url = start_api()

    with (
        httpx2.Client(base_url=url, headers=headers, timeout=LIMIT_S) as http,
        http.stream("GET", "/api/memory/events") as stream,
    ):
        lines = stream.iter_lines()
        first = next(line for line in lines if line.startswith("event:"))
        with begun_request(url, headers) as request:
            running.process.send_signal(signal.SIGTERM)
            status = finished_request(request)
        rest = list(lines)  # raises if the stream is cut off
    running.until_over(LIMIT_S)

    assert first == "event: memory.stored"
    assert all(not line.startswith("event:") for line in rest)
    assert status == 200
    assert running.code == 0
    assert running.errors == []
    listed, _ = await client.memory("ada").entries.list(EntryQuery())
    assert {one.content for one in listed} == {"Mara lives in Porto.", MESSAGE["content"]}


def begun_request(url: str, headers: dict[str, str]) -> socket.socket:
    """A request whose body the server waits for."""
    begun = socket.create_connection(("127.0.0.1", urlsplit(url).port), timeout=LIMIT_S)
    lines = (
        *("POST /ingest HTTP/1.1", "Host: api", "Expect: 100-continue"),
        *(f"{name}: {value}" for name, value in headers.items()),
        *("Content-Type: application/json", f"Content-Length: {len(body())}", "", ""),
    )
    begun.sendall("\r\n".join(lines).encode())
    assert begun.recv(1000).startswith(b"HTTP/1.1 100")
    return begun


def finished_request(begun: socket.socket) -> int:
    """Sends the body; returns the status of the answer."""
    begun.sendall(body())
    return int(begun.makefile("rb").readline().split()[1])


def body() -> bytes:
    """A message to store."""
    return json.dumps({"messages": [MESSAGE]}).encode()
