"""The wire between the application and a real Postgres: how often somebody waited there for an answer."""

import asyncio
import shutil
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from tests.pooler import through

_SOCKET = ".s.PGSQL.6432"  # as `through` names it
_CHUNK = 2**16


class Wire:
    """An address of the server, and the round trips that its clients have made there."""

    def __init__(self, server: str) -> None:
        """Prepares it.

        Args:
            server: The server's socket.
        """
        self.url = ""
        self.round_trips = 0
        self._server, self._is_answered = server, True
        self._connections: set[asyncio.Task[None]] = set()

    async def accept(self, client: asyncio.StreamReader, answers: asyncio.StreamWriter) -> None:
        """Carries all of one connection, until either side ends it."""
        connection = asyncio.create_task(self._pass_on(client, answers))
        self._connections.add(connection)
        await connection

    async def end(self) -> None:
        """Waits until all of its clients have gone."""
        await asyncio.gather(*self._connections)

    async def _pass_on(self, client: asyncio.StreamReader, answers: asyncio.StreamWriter) -> None:
        server, requests = await asyncio.open_unix_connection(self._server)
        both = [
            asyncio.create_task(self._carry(client, requests, is_request=True)),
            asyncio.create_task(self._carry(server, answers, is_request=False)),
        ]
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        for writer in (requests, answers):
            writer.close()
        await asyncio.gather(*both, requests.wait_closed(), answers.wait_closed())

    async def _carry(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, is_request: bool
    ) -> None:
        while data := await reader.read(_CHUNK):
            if is_request and self._is_answered:
                self.round_trips += 1
            self._is_answered = not is_request
            writer.write(data)
            await writer.drain()


@asynccontextmanager
async def counting(url: str) -> AsyncIterator[Wire]:
    """A wire to the server of an address, which listens on a socket, for a block."""
    query = parse_qs(urlsplit(url).query)
    port = query.get("port", ["5432"])[0]
    wire = Wire(f"{query['host'][0]}/.s.PGSQL.{port}")
    folder = Path(tempfile.mkdtemp(prefix="mnestic-wire-"))
    server = await asyncio.start_unix_server(wire.accept, folder / _SOCKET)
    wire.url = through(folder, url)
    try:
        yield wire
    finally:
        server.close()
        await wire.end()
        shutil.rmtree(folder)
