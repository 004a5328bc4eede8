"""Connections whose heads do not come, over a real socket."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import uvicorn
from starlette.types import Receive, Scope, Send

from mnestic.starter.http import connections
from mnestic.starter.http.connections import Connection

HEAD = b"GET / HTTP/1.1\r\nHost: here\r\n"
END = b"\r\n"


@pytest.fixture
async def server() -> AsyncIterator[uvicorn.Server]:
    """A server that answers each request, without reading its body; to /large with much."""

    async def app(scope: Scope, _: Receive, send: Send) -> None:
        body = b"ok" * (2**23 if scope["path"] == "/large" else 1)
        head = [(b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": head})
        await send({"type": "http.response.body", "body": body})

    config = uvicorn.Config(
        app, http=Connection, port=0, lifespan="off", log_config=None, timeout_keep_alive=2
    )
    server = uvicorn.Server(config)
    config.load()
    server.lifespan = config.lifespan_class(config)
    await server.startup()
    yield server
    await server.shutdown()


@pytest.fixture
def port(server: uvicorn.Server) -> int:
    """The server's port."""
    port: int = server.servers[0].sockets[0].getsockname()[1]
    return port


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        HEAD,
        HEAD + END + HEAD,  # the second head of a connection
    ],
)
async def test_a_head_that_does_not_come_closes_the_connection(
    port: int, monkeypatch: pytest.MonkeyPatch, sent: bytes
) -> None:
    monkeypatch.setattr(connections, "HEAD_DEADLINE_S", 0.2)
    async with connected(port) as (reader, writer):
        writer.write(sent)

        await until_closed(reader)


async def test_a_body_that_goes_on_after_its_answer_closes_the_connection(
    port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "HEAD_DEADLINE_S", 0.2)
    async with connected(port) as (reader, writer):
        writer.write(b"POST / HTTP/1.1\r\nHost: here\r\nContent-Length: 9\r\n\r\n")
        await reader.readuntil(b"ok")
        writer.write(b"x")

        await until_closed(reader)


async def test_a_connection_that_is_used_again_stays(
    port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "HEAD_DEADLINE_S", 0.2)
    async with connected(port) as (reader, writer):
        for _ in range(2):
            writer.write(HEAD + END)
            assert (await reader.readuntil(b"ok")).startswith(b"HTTP/1.1 200")
            await asyncio.sleep(0.3)


async def test_of_too_many_that_wait_the_oldest_goes(
    port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "MOST_WAITING", 2)
    async with (
        connected(port) as (oldest, _),
        connected(port),
        connected(port) as (newest, writer),
    ):
        await until_closed(oldest)
        writer.write(HEAD + END)

        assert (await newest.readuntil(b"ok")).startswith(b"HTTP/1.1 200")


async def test_many_at_once_are_no_more_than_may_wait(
    server: uvicorn.Server, port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "MOST_WAITING", 5)
    with contextlib.ExitStack() as open_ones:
        for _ in range(50):  # before the server accepts the first
            open_ones.enter_context(socket.create_connection(("127.0.0.1", port)))
        async with asyncio.timeout(10):
            while len(server.server_state.connections) != 5:  # noqa: ASYNC110 - it sets no event
                await asyncio.sleep(0.01)


async def test_who_does_not_read_an_answer_is_cut_off(
    server: uvicorn.Server, port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "STALLED_S", 0.2)
    with socket.create_connection(("127.0.0.1", port)) as idle:
        idle.sendall(b"GET /large HTTP/1.1\r\nHost: here\r\n\r\n")
        async with asyncio.timeout(10):
            while not server.server_state.total_requests or server.server_state.connections:  # noqa: ASYNC110
                await asyncio.sleep(0.01)


async def until_closed(reader: asyncio.StreamReader) -> None:
    """Waits until the other side closes a connection, whatever it says before."""
    with contextlib.suppress(ConnectionResetError):
        while await reader.read(100):
            pass


@asynccontextmanager
async def connected(
    port: int,
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """A connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        yield reader, writer
    finally:
        writer.close()
