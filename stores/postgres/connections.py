"""SQLAlchemy's pool and psycopg's pipelines, as transactions use them: few round trips to Postgres."""

import asyncio
import select
from collections.abc import AsyncIterator, Generator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from psycopg import AsyncConnection as DriverConnection
from psycopg import AsyncRawCursor, Error
from psycopg.pq import PipelineStatus
from psycopg.pq.abc import PGconn
from psycopg.rows import namedtuple_row
from psycopg.waiting import Ready, Wait
from sqlalchemy import event
from sqlalchemy.exc import DBAPIError, InvalidatePoolError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from mnestic.memory.errors import InvariantError
from mnestic.stores.postgres.queries import Query
from mnestic.stores.postgres.transaction_setup import COMMIT, setup_failure


def drop_closed(engine: AsyncEngine) -> None:
    """Lets a pool see by itself that the server has closed its connections, instead of asking first.

    A connection that nobody uses has nothing to read, but the server's farewell. One that was left within a pipeline,
    as who gave up had just begun it, is not used again either.
    """
    event.listen(engine.sync_engine, "checkout", _refuse_closed)


class Rows(list[Any]):
    """The rows of a statement, as named tuples, and how many it returned or wrote."""

    touched: int = 0


async def run_together(
    connection: AsyncConnection, queries: Sequence[Query], *, opening: Sequence[Query] = ()
) -> list[Rows]:
    """The rows of statements that do not wait for each other, as named tuples, in one round trip.

    Args:
        connection: Where they are sent.
        queries: The statements.
        opening: What goes before them, if they begin the transaction (`opening.opening`); its rows are not returned.

    Raises:
        DBAPIError: one of them failed.
        ConfigurationError: the transaction could not begin; see `opening.setup_failure`.
        SchemaVersionError: likewise.
        InvalidInputError: likewise.
        InvariantError: Postgres has answered COMMIT by undoing a transaction in which a statement had failed.
    """
    cursors: list[AsyncRawCursor[Any]] = []
    try:
        async with _driver_of(connection) as driver:
            together = [*opening, *queries]
            cursors += (AsyncRawCursor(driver, row_factory=namedtuple_row) for _ in together)
            if len(together) == 1:
                await _execute(cursors[0], together[0])
            else:
                async with driver.pipeline():
                    for cursor, query in zip(cursors, together, strict=True):
                        await _execute(cursor, query)
                    await _send_all(driver)
            _check_committed(cursors, together)
            with_rows = cursors[len(opening) :]
            return [await _rows_of(one) for one in with_rows]
    except DBAPIError as error:
        is_begun = not opening or (cursors and cursors[len(opening) - 1].rowcount == 1)
        if not is_begun and (why := setup_failure(error)) is not None:
            raise why from error
        raise


async def _execute(cursor: AsyncRawCursor[Any], query: Query) -> None:
    """Runs a statement; those with parameters are prepared, as they take long to be planned."""
    text, values = query
    await cursor.execute(text, values, prepare=bool(values), binary=True)


async def _rows_of(cursor: AsyncRawCursor[Any]) -> Rows:
    rows = Rows(await cursor.fetchall() if cursor.description else ())
    rows.touched = cursor.rowcount
    return rows


def _check_committed(cursors: Sequence[AsyncRawCursor[Any]], queries: Sequence[Query]) -> None:
    """Compares the answer to COMMIT; that of a transaction in which a statement has failed is `ROLLBACK`, and no error."""
    for cursor, query in zip(cursors, queries, strict=True):
        if query == COMMIT and cursor.statusmessage != "COMMIT":
            raise InvariantError(
                f"Postgres answered {cursor.statusmessage} to COMMIT: nothing of the transaction was written, "
                "since one of its statements had failed"
            )


@asynccontextmanager
async def _driver_of(connection: AsyncConnection) -> AsyncIterator[DriverConnection[Any]]:
    """Psycopg's connection, with errors as SQLAlchemy raises them; it is closed when a caller is cancelled.

    Raises:
        DBAPIError: a statement failed.
    """
    raw = await connection.get_raw_connection()
    driver: Any = raw.driver_connection
    try:
        yield driver
    except Error as error:
        raise DBAPIError.instance(None, None, error, Error, dialect=connection.dialect) from error
    except asyncio.CancelledError:  # psycopg takes for prepared what the server may never have read
        await connection.invalidate()
        raise


async def _send_all(driver: DriverConnection[Any]) -> None:
    """Sends all that was handed to libpq, before anybody waits for an answer.

    Psycopg's pipeline tries to send it once. Of a statement with some megabytes a part stays behind then, and it
    and the server wait for each other for ever.
    """
    if driver.pgconn.flush():
        await driver.wait(_sending(driver.pgconn))


def _sending(connection: PGconn) -> Generator[Wait, Ready | int, None]:
    while connection.flush():
        ready = yield Wait.RW
        if ready & Ready.R:
            connection.consume_input()  # else the server would wait for room


def _refuse_closed(connection: Any, _record: Any, _proxy: Any) -> None:
    if connection.driver_connection.pgconn.pipeline_status != PipelineStatus.OFF:
        raise InvalidatePoolError("it was left within a pipeline")
    poll = select.poll()
    poll.register(connection.driver_connection.fileno(), select.POLLIN)
    if poll.poll(0):
        raise InvalidatePoolError("the server has closed it")
