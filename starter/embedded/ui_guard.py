"""The guard of the Temporal UI: passes on only requests that name this machine, whoever sends them.

The UI itself answers any `Host`, so that a web page whose name was rebound to 127.0.0.1 could read every
job and start others. It listens where browsers do not go (`ports.py`), and this guard in front of it.
"""

import asyncio
import contextlib
from collections.abc import Iterable
from typing import NamedTuple
from urllib.parse import urlsplit

from mnestic.memory.errors import InUseError
from mnestic.starter.embedded.ports import LOOPBACK, choose_port

FIRST_PORT = 8233
HEAD_LIMIT_S = 30.0  # browsers open connections before they need them
OPEN_TRIES = 5
_CHUNK_BYTES = 1 << 16
_LOCAL_NAMES = frozenset({"localhost", LOOPBACK})
_OF_ONE_CONNECTION = frozenset({"connection", "keep-alive", "proxy-connection", "upgrade"})


Ends = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Refusal(NamedTuple):
    """Why a request is not passed on."""

    status: str
    why: str


class UiGuard:
    """A reverse proxy for one server, which is at `upstream` once it is started.

    Each connection carries one request: what comes after it was not looked at, so the upstream gets
    `Connection: close`.
    """

    def __init__(self, public_url: str | None) -> None:
        """`public_url` is where else the UI is reached, by a proxy of the user's own."""
        self.port = 0
        self.upstream: tuple[str, int] | None = None
        self._public_host = urlsplit(public_url or "").netloc.lower()
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        """Base address of the UI."""
        return f"http://{LOOPBACK}:{self.port}"

    async def open(self, port: int | None, *, last: int | None, but_not: int | None) -> None:
        """Listens at `port`, else at the last one used, else at the first free one from 8233 on.

        Raises:
            InUseError: the requested port is taken, or is `but_not`.
        """
        for _ in range(OPEN_TRIES):
            self.port = choose_port(
                port,
                option="`mnestic up --ui-port`, or MNESTIC_UI_PORT",
                last=last,
                first=FIRST_PORT,
                but_not=but_not,
            )
            with contextlib.suppress(OSError):  # another process took it meanwhile: choose again
                self._server = await asyncio.start_server(self._accept, LOOPBACK, self.port)
                return
        raise InUseError(what=f"port {self.port}", by="another process", remedy="start again")

    async def close(self) -> None:
        """Stops listening, and closes open connections."""
        if self._server is not None:
            self._server.close()
        for connection in self._connections:
            connection.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = asyncio.current_task()
        assert connection is not None
        self._connections.add(connection)
        connection.add_done_callback(self._connections.discard)
        with contextlib.suppress(ConnectionError, asyncio.CancelledError):  # nothing waits any more
            await self._answer(reader, writer)
        await _close(writer)

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(HEAD_LIMIT_S):
                head = await reader.readuntil(b"\r\n\r\n")
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, TimeoutError):
            return
        lines = head[:-4].split(b"\r\n")
        refusal = self._refusal(lines[1:])
        if refusal is not None:
            writer.write(_response(refusal))
            await writer.drain()
            return
        try:
            upstream = await self._connect()
        except OSError:
            writer.write(_response(Refusal("502 Bad Gateway", "Temporal is not up; try again.")))
            await writer.drain()
            return
        try:
            upstream[1].write(_for_one_request(lines))
            await _exchange((reader, writer), upstream)
        finally:
            await _close(upstream[1])

    async def _connect(self) -> Ends:
        if self.upstream is None:
            raise ConnectionRefusedError
        host, port = self.upstream
        return await asyncio.open_connection(host, port)

    def _refusal(self, fields: Iterable[bytes]) -> Refusal | None:
        """Why a request with these header fields is not for the UI, None when it is."""
        hosts: list[str] = []
        origins: list[str] = []
        for field in fields:
            name, colon, value = field.partition(b":")
            if not colon or not name or name != name.strip() or b"\n" in field or b"\r" in field:
                return Refusal("400 Bad Request", "A header field is malformed.")
            if name.lower() == b"host":
                hosts.append(value.decode("latin-1").strip().lower())
            elif name.lower() == b"origin":
                origins.append(value.decode("latin-1").strip().lower())
        if len(hosts) != 1 or not self._is_ours(hosts[0]):
            return Refusal(
                "403 Forbidden",
                f"This is the Temporal UI of {self.url}, and it answers under that address alone. "
                "If you reach it through a proxy, set MNESTIC_TEMPORAL_UI_URL to the proxy's address.",
            )
        if any(origin.partition("://")[2] != hosts[0] for origin in origins):
            return Refusal("403 Forbidden", "Pages of other sites may not use this UI.")
        return None

    def _is_ours(self, host: str) -> bool:
        """Whether a `Host` names this machine, at any port: an SSH tunnel may have another one."""
        name, _, port = host.partition(":")
        local = name in _LOCAL_NAMES and (not port or port.isdecimal())
        return local or (host != "" and host == self._public_host)


def _for_one_request(lines: list[bytes]) -> bytes:
    headers = [
        line
        for line in lines[1:]
        if line.partition(b":")[0].lower().decode("latin-1") not in _OF_ONE_CONNECTION
    ]
    return b"\r\n".join((lines[0], *headers, b"Connection: close", b"", b""))


def _response(refusal: Refusal) -> bytes:
    body = f"{refusal.why}\n".encode()
    head = (
        f"HTTP/1.1 {refusal.status}\r\nContent-Type: text/plain; charset=utf-8\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + body


async def _exchange(client: Ends, upstream: Ends) -> None:
    """Passes on the rest of the request while the response goes back; the response ends it."""
    upload = asyncio.create_task(_upload(client[0], upstream[1]))
    try:
        await _copy(upstream[0], client[1])
    finally:
        upload.cancel()
        await asyncio.gather(upload, return_exceptions=True)


async def _upload(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await _copy(reader, writer)
    writer.write_eof()  # the client has disconnected; pass that on to the server


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while chunk := await reader.read(_CHUNK_BYTES):
        writer.write(chunk)
        await writer.drain()


async def _close(writer: asyncio.StreamWriter) -> None:
    writer.close()
    with contextlib.suppress(ConnectionError, asyncio.CancelledError):
        await writer.wait_closed()
