"""The guard in front of the Temporal UI: what it passes on, and what it does when one end is gone.

Which requests it refuses is in `tests/security/test_embedded_servers.py`, on the real UI.
"""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest
import pytest_asyncio

from mnestic.starter.embedded.ports import LOOPBACK
from mnestic.starter.embedded.ui_guard import UiGuard

LIMIT_S = 20.0
Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def upstream(guard: UiGuard, serve: Serve) -> AsyncIterator[None]:
    """A server behind the guard for as long as a block."""

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await serve(reader, writer)
        writer.close()
        await writer.wait_closed()

    server = await asyncio.start_server(accept, LOOPBACK, 0)
    guard.upstream = server.sockets[0].getsockname()
    async with server:
        yield


@pytest_asyncio.fixture
async def guard() -> AsyncIterator[UiGuard]:
    guard = UiGuard("https://ui.example/temporal")
    await guard.open(None, last=None, but_not=None)
    async with asyncio.timeout(LIMIT_S):
        yield guard
        await guard.close()


async def exchange(guard: UiGuard, *sent: bytes) -> bytes:
    """All that the guard answers on one connection."""
    reader, writer = await asyncio.open_connection(LOOPBACK, guard.port)
    for piece in sent:
        writer.write(piece)
        await writer.drain()
    received = await reader.read()
    writer.close()
    await writer.wait_closed()
    return received


def request(*fields: str, host: str = "localhost") -> bytes:
    return "\r\n".join(("GET / HTTP/1.1", f"Host: {host}", *fields, "", "")).encode()


async def test_what_is_sent_and_answered_is_passed_on_as_it_is(guard: UiGuard) -> None:
    heads: list[bytes] = []
    body, answer = b"up" * (1 << 20), b"HTTP/1.1 200 OK\r\n\r\n" + b"down" * (1 << 20)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append(await reader.readuntil(b"\r\n\r\n"))
        assert await reader.readexactly(len(body)) == body
        writer.write(answer)
        await writer.drain()

    async with upstream(guard, serve):
        fields = (f"Content-Length: {len(body)}", "Accept: */*", "Connection: keep-alive")
        received = await exchange(guard, request(*fields, host=f"127.0.0.1:{guard.port}"), body)

    assert received == answer
    assert heads == [
        f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{guard.port}\r\nContent-Length: {len(body)}\r\n"
        "Accept: */*\r\nConnection: close\r\n\r\n".encode()
    ]


@pytest.mark.parametrize(
    ("host", "origin", "passes"),
    [
        ("ui.example", "https://ui.example", True),
        ("UI.example", "https://ui.example", True),
        ("ui.example:8080", "https://ui.example:8080", False),
        ("ui.example", "https://ui.example.evil", False),
        ("ui.example", "ui.example", False),
    ],
)
async def test_a_proxy_of_the_users_own_is_served_under_the_address_that_is_set(
    guard: UiGuard, host: str, origin: str, passes: bool
) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")

    async with upstream(guard, serve):
        received = await exchange(guard, request(f"Origin: {origin}", host=host))

    assert received.startswith(b"HTTP/1.1 200" if passes else b"HTTP/1.1 403")


async def test_while_temporal_is_away_it_says_so(guard: UiGuard) -> None:
    before = await exchange(guard, request())
    with socket.create_server((LOOPBACK, 0)) as gone:
        guard.upstream = gone.getsockname()
    after = await exchange(guard, request())

    assert before == after
    assert before.startswith(b"HTTP/1.1 502")
    assert b"Temporal is not up; try again." in before


async def test_a_client_that_leaves_is_not_waited_for(guard: UiGuard) -> None:
    gone = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        assert await reader.read() == b""
        gone.set()

    async with upstream(guard, serve):
        _, writer = await asyncio.open_connection(LOOPBACK, guard.port)
        writer.write(request())
        await writer.drain()
        writer.close()
        await writer.wait_closed()

        await gone.wait()


async def test_a_close_ends_what_is_open(guard: UiGuard) -> None:
    asked = asyncio.Event()
    left: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        asked.set()
        left.append(await reader.read())

    async with upstream(guard, serve):
        waiting = asyncio.create_task(exchange(guard, request()))
        await asked.wait()

        await guard.close()

        assert await waiting == b""
    assert left == [b""]
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection(LOOPBACK, guard.port)


async def test_a_head_without_an_end_is_not_read_for_ever(guard: UiGuard) -> None:
    received = b""

    with contextlib.suppress(ConnectionResetError):  # what was sent is left unread
        received = await exchange(guard, request("X: " + "x" * (1 << 17)))

    assert received == b""
