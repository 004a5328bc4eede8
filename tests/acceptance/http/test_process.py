"""`mnestic api` as a process: it refuses a taken port, and a signal ends it without breaking what is open."""

import asyncio
import contextlib
import json
import re
import signal
import socket
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import httpx2
import psutil
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
        http.stream("GET", "/v1/memory/events") as stream,
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


@pytest.mark.parametrize("killed", [None, "first", "other"])
async def test_several_processes_do_a_request_once_and_end_together(
    start_api: Callable[..., tuple[Any, str]], client: MnesticClient, killed: str | None
) -> None:
    issued = await client.api_keys().create(agents=["*"], actions=["read", "write"])
    key = {"Authorization": f"Bearer {issued.text}", "Connection": "close"}
    running, url = start_api("--processes", "2")
    first = psutil.Process(running.process.pid)
    others = first.children()

    answers, answered = [], set[str]()
    async with httpx2.AsyncClient(base_url=url, headers=key, timeout=LIMIT_S) as http:
        async with asyncio.timeout(LIMIT_S):
            while answered != {"1", "2"}:
                answer = await http.post(
                    "/v1/ingest?agent_id=ada",
                    json={"messages": [MESSAGE]},
                    headers={"Idempotency-Key": "once"},
                )
                answers.append(answer.json())
                series = (await http.get("/v1/metrics")).text
                labels = re.findall(r'_seconds_count{.*process="(\d)",route="/v1/ingest"', series)
                answered.update(labels)
    if killed == "other":
        others[0].kill()
    else:
        running.process.send_signal(signal.SIGTERM if killed is None else signal.SIGKILL)
    running.until_over(LIMIT_S)
    _, left = psutil.wait_procs(others, timeout=LIMIT_S)

    assert all(one == answers[0] for one in answers)
    listed, _ = await client.memory("ada").entries.list(EntryQuery())
    assert [one.content for one in listed] == [MESSAGE["content"]]
    assert left == []
    assert running.code == {None: 0, "first": -signal.SIGKILL, "other": 3}[killed]


@pytest.mark.parametrize(
    "head",
    ["GET /", "POST /ui/sign-in HTTP/1.1\r\nHost: api\r\nContent-Length: 9\r\n\r\n"],
    ids=["heads", "bodies"],
)
def test_connections_without_a_key_keep_nobody_out(
    start_api: Callable[[], tuple[Any, str]], head: str
) -> None:
    _, url = start_api()
    port = urlsplit(url).port
    with contextlib.ExitStack() as open_ones:
        for _ in range(2000):
            one = open_ones.enter_context(socket.create_connection(("127.0.0.1", port)))
            one.sendall(head.encode())

        answer = httpx2.get(f"{url}/health", timeout=LIMIT_S)

    assert answer.status_code == 200


def test_a_body_of_two_lengths_is_refused_and_the_connection_closed(
    start_api: Callable[[], tuple[Any, str]],
) -> None:
    _, url = start_api()
    with socket.create_connection(("127.0.0.1", urlsplit(url).port), timeout=LIMIT_S) as one:
        head = "POST /v1/ingest HTTP/1.1\r\nHost: api\r\nContent-Length: 4\r\nTransfer-Encoding: chunked"
        one.sendall(f"{head}\r\n\r\n0\r\n\r\nGET /v1/health HTTP/1.1\r\nHost: api\r\n\r\n".encode())

        answers = one.makefile("rb").read()  # until it is closed

    assert answers.startswith(b"HTTP/1.1 400")
    assert answers.count(b"HTTP/1.1") == 1


def begun_request(url: str, headers: dict[str, str]) -> socket.socket:
    """A request whose body the server waits for."""
    begun = socket.create_connection(("127.0.0.1", urlsplit(url).port), timeout=LIMIT_S)
    lines = (
        *("POST /v1/ingest HTTP/1.1", "Host: api", "Expect: 100-continue"),
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
