"""What SQLAlchemy's pool and psycopg's pipelines are used for here: fewer round trips to Postgres.

A transaction has many small statements, and each waits for its own way there and back.
"""

import select
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from psycopg import Error
from psycopg.pq import TransactionStatus
from sqlalchemy import event
from sqlalchemy.exc import DBAPIError, InvalidatePoolError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine


def drop_closed(engine: AsyncEngine) -> None:
    """Lets a pool see by itself that the server has closed its connections, instead of asking first.

    A connection that nobody uses has nothing to read, but the server's farewell.
    """
    event.listen(engine.sync_engine, "checkout", _refuse_closed)


@asynccontextmanager
async def pipelined(connection: AsyncConnection) -> AsyncIterator[None]:
    """Sends the statements of the block together, and waits once; nobody may read their results.

    Raises:
        DBAPIError: one of them failed; those after it have not run.
    """
    raw = await connection.get_raw_connection()
    driver = raw.driver_connection
    assert driver is not None
    try:
        async with driver.pipeline():
            yield
    except Error as error:
        raise DBAPIError.instance(None, None, error, Error, dialect=connection.dialect) from error
    finally:
        # Once a commit was sent, the pool takes the transaction for ended, and would not undo it.
        if driver.info.transaction_status == TransactionStatus.INERROR:
            await driver.rollback()


def _refuse_closed(connection: Any, _record: Any, _proxy: Any) -> None:
    poll = select.poll()
    poll.register(connection.driver_connection.fileno(), select.POLLIN)
    if poll.poll(0):
        raise InvalidatePoolError("the server has closed it")
