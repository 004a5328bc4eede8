"""What SQLAlchemy's pool and psycopg's pipelines are used for here: fewer round trips to Postgres.

A transaction has many small statements, and each waits for its own way there and back.
"""

import select
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import lru_cache
from typing import Any

from psycopg import AsyncConnection as DriverConnection
from psycopg import Error
from psycopg.pq import TransactionStatus
from psycopg.rows import namedtuple_row
from sqlalchemy import TextClause, event
from sqlalchemy.dialects.postgresql import psycopg
from sqlalchemy.exc import DBAPIError, InvalidatePoolError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

_DIALECT = psycopg.dialect()  # type: ignore[no-untyped-call]


def drop_closed(engine: AsyncEngine) -> None:
    """Lets a pool see by itself that the server has closed its connections, instead of asking first.

    A connection that nobody uses has nothing to read, but the server's farewell.
    """
    event.listen(engine.sync_engine, "checkout", _refuse_closed)


@asynccontextmanager
async def pipelined(connection: AsyncConnection) -> AsyncIterator[DriverConnection[Any]]:
    """Sends the statements of the block together, and waits once; nobody may read their results in it.

    Raises:
        DBAPIError: one of them failed; those after it have not run.
    """
    raw = await connection.get_raw_connection()
    driver = raw.driver_connection
    assert driver is not None
    try:
        async with driver.pipeline():
            yield driver
    except Error as error:
        raise DBAPIError.instance(None, None, error, Error, dialect=connection.dialect) from error
    finally:
        # Once a commit was sent, the pool takes the transaction for ended, and would not undo it.
        if driver.info.transaction_status == TransactionStatus.INERROR:
            await driver.rollback()


async def read_together(
    connection: AsyncConnection, asked: Sequence[tuple[TextClause | str, Mapping[str, Any]]]
) -> list[list[Any]]:
    """The rows of statements that do not wait for each other, as named tuples, in one round trip.

    Raises:
        DBAPIError: one of them failed.
    """
    async with pipelined(connection) as driver:
        cursors = [driver.cursor(row_factory=namedtuple_row) for _ in asked]
        for cursor, (statement, values) in zip(cursors, asked, strict=True):
            await cursor.execute(
                statement if isinstance(statement, str) else written(statement), values
            )
    return [await cursor.fetchall() for cursor in cursors]


@lru_cache(1000)
def written(statement: TextClause) -> str:
    """A statement as psycopg takes it."""
    return str(statement.compile(dialect=_DIALECT))


def _refuse_closed(connection: Any, _record: Any, _proxy: Any) -> None:
    poll = select.poll()
    poll.register(connection.driver_connection.fileno(), select.POLLIN)
    if poll.poll(0):
        raise InvalidatePoolError("the server has closed it")
