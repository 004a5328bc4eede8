"""The connections to Postgres that transactions share: opened when one is needed, and kept for the next."""

import asyncio
import select
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from psycopg import AsyncConnection, Error, OperationalError, adapters
from psycopg.adapt import AdaptersMap
from psycopg.pq import PipelineStatus, TransactionStatus
from psycopg.types.json import set_json_loads
from pydantic_core import from_json

from mnestic.stores.postgres.addresses import libpq_url
from mnestic.stores.postgres.poolers import prepare_unless_pooled
from mnestic.stores.postgres.priorities import share_priority
from mnestic.stores.postgres.reals import register_reals

_CONNECT_TIMEOUT_S = 10
_WAIT_S = 30.0  # for a connection that others use
_LEFT_OPEN = (TransactionStatus.INTRANS, TransactionStatus.INERROR)


class Pool:
    """Connections to a database as the application; the first transaction connects.

    An error of a connection is that of whoever asked for it, at once: nothing connects in the background.
    """

    def __init__(self, url: str, *, size: int) -> None:
        """Prepares the pool.

        Args:
            url: `postgresql://…` of a role that is `mnestic_app` or may become it.
            size: Connections that stay open; as many again may be opened under load.

        Raises:
            ConfigurationError: the address is malformed.
        """
        self._url, self._size = libpq_url(url), size
        self._places = asyncio.Semaphore(2 * size)
        self._idle: list[AsyncConnection[Any]] = []
        self._adapters = AdaptersMap(adapters)
        set_json_loads(from_json, self._adapters)
        register_reals(self._adapters)

    @asynccontextmanager
    async def connect(self) -> AsyncIterator[AsyncConnection[Any]]:
        """A connection for a block, that which was used last; what the block leaves uncommitted is undone.

        Raises:
            psycopg.OperationalError: Postgres cannot be reached, or others have used all connections for half a minute.
        """
        try:
            async with asyncio.timeout(_WAIT_S):
                await self._places.acquire()
        except TimeoutError:
            why = f"all {2 * self._size} connections were in use for {_WAIT_S:.0f} seconds"
            raise OperationalError(why) from None
        try:
            async with self.connect_at_once() as connection:
                yield connection
        finally:
            self._places.release()

    @asynccontextmanager
    async def connect_at_once(self) -> AsyncIterator[AsyncConnection[Any]]:
        """As `connect`, also while others use all connections: for what asks whether Postgres answers."""
        idle = self._idle
        connection = await _usable(idle) or await self._open()
        is_kept = False
        try:
            share_priority(connection)
            yield connection
        finally:
            try:
                is_kept = await _is_reset(connection) and len(idle) < self._size
            finally:
                if is_kept and idle is self._idle:
                    idle.append(connection)
                else:
                    await connection.close()

    async def close(self) -> None:
        """Closes the connections that nobody uses, and the others when they come back."""
        idle, self._idle = self._idle, []
        for connection in idle:
            await connection.close()

    async def _open(self) -> AsyncConnection[Any]:
        # Transactions begin and end by statements of their own.
        connection = await AsyncConnection.connect(
            self._url,
            autocommit=True,
            context=self._adapters,
            connect_timeout=_CONNECT_TIMEOUT_S,
        )
        try:
            await prepare_unless_pooled(connection)
        except BaseException:
            await connection.close()
            raise
        return connection


async def _usable(idle: list[AsyncConnection[Any]]) -> AsyncConnection[Any] | None:
    """The connection that was used last, if there is one; those that the server has closed are left out.

    A connection that nobody uses has nothing to read, but the server's farewell.
    """
    while idle:
        connection = idle.pop()
        poll = select.poll()
        poll.register(connection.fileno(), select.POLLIN)
        if not poll.poll(0):
            return connection
        await connection.close()
    return None


async def _is_reset(connection: AsyncConnection[Any]) -> bool:
    """Undoes what was not committed; whether the connection can be used again.

    One that was left within a pipeline, as who gave up had just begun it, cannot.
    """
    if connection.closed or connection.pgconn.pipeline_status != PipelineStatus.OFF:
        return False
    status = connection.info.transaction_status
    if status in _LEFT_OPEN:
        try:
            await connection.rollback()
        except Error:
            return False
        status = connection.info.transaction_status
    return status == TransactionStatus.IDLE
