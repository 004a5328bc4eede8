"""LISTEN, through a server that refuses it at first."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit, urlunsplit

import psycopg

from mnestic.stores.postgres.listening import listening


class _Refusing:
    """A socket before the server's, on which the first LISTEN is no statement."""

    def __init__(self, server: str) -> None:
        self._server, self.refused = server, 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        server_reader, server_writer = await asyncio.open_unix_connection(self._server)
        await asyncio.gather(
            self._pass_on(reader, server_writer), self._pass_on(server_reader, writer)
        )

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while sent := await reader.read(65_536):
            if b"LISTEN" in sent and not self.refused:
                sent, self.refused = sent.replace(b"LISTEN", b"LISTAN"), 1
            writer.write(sent)
            await writer.drain()
        writer.close()


@asynccontextmanager
async def through(url: str, folder: Path) -> AsyncIterator[tuple[str, _Refusing]]:
    """An address of the same database that leads through such a socket."""
    parts = urlsplit(url)
    query = parse_qs(parts.query)
    name = f".s.PGSQL.{query['port'][0]}"
    proxy = _Refusing(f"{query['host'][0]}/{name}")
    async with await asyncio.start_unix_server(proxy.serve, folder / name):
        query["host"] = [str(folder)]
        yield urlunsplit(parts._replace(query=urlencode(query, doseq=True))), proxy


async def test_who_listens_connects_anew_after_listen_was_refused(
    admin_url: str, tmp_path: Path
) -> None:
    async with through(admin_url, tmp_path) as (url, proxy), listening(url) as rest:
        refused = await rest(0)
        begun = await rest(0)
        with psycopg.connect(admin_url, autocommit=True) as connection:
            connection.execute("SELECT pg_notify('mnestic_events', '')")
        woken = await rest(30)

    assert (proxy.refused, refused, begun, woken) == (1, False, True, True)
