"""Psycopg's pipelines, as transactions use them: few round trips to Postgres."""

import asyncio
from collections.abc import Generator, Sequence
from typing import Any

from psycopg import AsyncConnection, AsyncRawCursor, Error
from psycopg.pq.abc import PGconn
from psycopg.rows import namedtuple_row
from psycopg.waiting import Ready, Wait

from mnestic.memory.errors import InvariantError
from mnestic.stores.postgres.queries import Query
from mnestic.stores.postgres.transaction_setup import COMMIT, setup_failure


class Rows(list[Any]):
    """The rows of a statement, as named tuples, and how many it returned or wrote."""

    touched: int = 0


async def run_together(
    connection: AsyncConnection[Any], queries: Sequence[Query], *, opening: Sequence[Query] = ()
) -> list[Rows]:
    """The rows of statements that do not wait for each other, as named tuples, in one round trip.

    Args:
        connection: Where they are sent.
        queries: The statements.
        opening: What goes before them, if they begin the transaction (`opening.opening`); its rows are not returned.

    Raises:
        psycopg.Error: one of them failed.
        ConfigurationError: the transaction could not begin; see `opening.setup_failure`.
        SchemaVersionError: likewise.
        InvalidInputError: likewise.
        InvariantError: Postgres has answered COMMIT by undoing a transaction in which a statement had failed.
    """
    together = [*opening, *queries]
    cursors = [AsyncRawCursor(connection, row_factory=namedtuple_row) for _ in together]
    try:
        if len(together) == 1:
            await _execute(cursors[0], together[0])
        else:
            async with connection.pipeline():
                for cursor, query in zip(cursors, together, strict=True):
                    await _execute(cursor, query)
                await _send_all(connection)
        _check_committed(cursors, together)
        return [await _rows_of(one) for one in cursors[len(opening) :]]
    except Error as error:
        is_begun = not opening or cursors[len(opening) - 1].rowcount == 1
        if not is_begun and (why := setup_failure(error)) is not None:
            raise why from error
        raise
    except asyncio.CancelledError:  # psycopg takes for prepared what the server may never have read
        await connection.close()
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


async def _send_all(connection: AsyncConnection[Any]) -> None:
    """Sends all that was handed to libpq, before anybody waits for an answer.

    Psycopg's pipeline tries to send it once. Of a statement with some megabytes a part stays behind then, and it
    and the server wait for each other for ever.
    """
    if connection.pgconn.flush():
        await connection.wait(_sending(connection.pgconn))


def _sending(connection: PGconn) -> Generator[Wait, Ready | int, None]:
    while connection.flush():
        ready = yield Wait.RW
        if ready & Ready.R:
            connection.consume_input()  # else the server would wait for room
