"""Counts the statements of a call, and how often it waits for Postgres."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from psycopg import AsyncConnection, AsyncCursor
from pydantic import BaseModel


class RoundTrips(BaseModel):
    """The statements of a call, and its waits."""

    statements: int = 0
    waits: int = 0


@contextmanager
def counted() -> Iterator[RoundTrips]:
    """Counts what psycopg's connections do in the block."""
    trips = RoundTrips()
    wait, execute = AsyncConnection.wait, AsyncCursor.execute

    async def counting_wait(self: Any, *args: Any, **options: Any) -> Any:
        trips.waits += 1
        return await wait(self, *args, **options)

    async def counting_execute(self: Any, *args: Any, **options: Any) -> Any:
        trips.statements += 1
        return await execute(self, *args, **options)

    with (
        patch.object(AsyncConnection, "wait", counting_wait),
        patch.object(AsyncCursor, "execute", counting_execute),
    ):
        yield trips
