"""LISTEN: who waits for events rests until one is published, and looks then. It only wakes; what there is, a query says."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from psycopg import AsyncConnection, Error

from mnestic.stores.postgres.addresses import libpq_url

_LISTEN = "LISTEN mnestic_events"


@asynccontextmanager
async def listening(url: str) -> AsyncIterator[Callable[[float], Awaitable[bool]]]:
    """What rests for so many seconds, or until an event is published; see `mnestic.memory.ports.Memory.listen`."""
    connection: AsyncConnection[Any] | None = None

    async def rest(seconds: float) -> bool:
        nonlocal connection
        try:
            if connection is None:
                connection = await AsyncConnection.connect(
                    libpq_url(url), autocommit=True, connect_timeout=10
                )
                await connection.execute(_LISTEN)
                return True  # what was published before it listened, a look finds now
            return bool([one async for one in connection.notifies(timeout=seconds, stop_after=1)])
        except Error:  # the look that follows tells what is wrong, the next rest connects anew
            if connection is not None:
                await connection.close()
                connection = None
            await asyncio.sleep(seconds)
            return False

    try:
        yield rest
    finally:
        if connection is not None:
            await connection.close()
