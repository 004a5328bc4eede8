"""What SQLAlchemy's pool and psycopg's pipelines are used for here: fewer round trips to Postgres.

A transaction has many small statements, and each waits for its own way there and back.
"""

import asyncio
import select
from collections.abc import AsyncIterator, Generator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import lru_cache, partial
from types import MethodType
from typing import Any

from psycopg import AsyncConnection as DriverConnection
from psycopg import AsyncCursor, Error
from psycopg.pq import PipelineStatus, TransactionStatus
from psycopg.pq.abc import PGconn
from psycopg.rows import namedtuple_row
from psycopg.waiting import Ready, Wait
from sqlalchemy import TextClause, event
from sqlalchemy.dialects.postgresql import psycopg
from sqlalchemy.exc import DBAPIError, InvalidatePoolError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from mnestic.stores.postgres.opening import refusal

# A statement that reads, and its values. As text it is written as psycopg takes it.
Asked = tuple[TextClause | str, Mapping[str, Any]]
_DIALECT = psycopg.dialect()  # type: ignore[no-untyped-call]
_MOST_STATEMENTS = 1000  # that are remembered
_MAKERS: dict[tuple[str, int], Any] = {}  # of rows, by statement and number of columns


def drop_closed(engine: AsyncEngine) -> None:
    """Lets a pool see by itself that the server has closed its connections, instead of asking first.

    A connection that nobody uses has nothing to read, but the server's farewell. One that was left within a pipeline,
    as who gave up had just begun it, is not used again either.
    """
    event.listen(engine.sync_engine, "checkout", _refuse_closed)


@asynccontextmanager
async def pipelined(connection: AsyncConnection) -> AsyncIterator[DriverConnection[Any]]:
    """Sends the statements of the block together, and waits once; nobody may read their results in it.

    Raises:
        DBAPIError: one of them failed; those after it have not run.
    """
    async with _driver_of(connection) as driver, driver.pipeline():
        yield driver
        await _send_all(driver)


async def commit(connection: AsyncConnection) -> None:
    """Commits, where nothing else is to be sent: a pipeline takes twice as long.

    Raises:
        DBAPIError: it failed.
    """
    async with _driver_of(connection) as driver:
        await end(connection, driver)


async def end(connection: AsyncConnection, driver: DriverConnection[Any]) -> None:
    """Commits through SQLAlchemy, or the driver if all was sent to that, of which SQLAlchemy knows nothing."""
    await _send_all(driver)
    await (connection if connection.in_transaction() else driver).commit()


async def read_together(
    connection: AsyncConnection,
    asked: Sequence[Asked],
    *,
    opening: Asked | None = None,
    noted: Sequence[Asked] = (),
) -> list[list[Any]]:
    """The rows of statements that do not wait for each other, as named tuples, in one round trip.

    Args:
        connection: Where they are sent.
        asked: The statements, with their values.
        opening: What goes before them (`opening.opening`); its rows are not returned.
        noted: What goes after them, likewise.

    Raises:
        DBAPIError: one of them failed.
        ConfigurationError: the transaction could not begin; see `opening.refusal`.
        SchemaVersionError: likewise.
        InvalidInputError: likewise.
    """
    before = () if opening is None else (opening,)
    statements = [*before, *asked, *noted]
    cursors: list[AsyncCursor[Any]] = []
    try:
        async with _driver_of(connection) as driver:
            texts = [one if isinstance(one, str) else written(one) for one, _ in statements]
            cursors += (driver.cursor(row_factory=partial(_named, one)) for one in texts)
            if len(statements) == len(asked) == 1:  # a pipeline takes twice as long
                await cursors[0].execute(texts[0], statements[0][1])
            else:
                async with _sent_together(driver):
                    for cursor, one, (_, values) in zip(cursors, texts, statements, strict=True):
                        await cursor.execute(one, values)
            with_rows = cursors[len(before) : len(before) + len(asked)]
            return [await cursor.fetchall() for cursor in with_rows]
    except DBAPIError as error:
        is_begun = opening is None or (cursors and cursors[0].rowcount == 1)
        if not is_begun and (why := refusal(error)) is not None:
            raise why from error
        raise


@asynccontextmanager
async def _driver_of(connection: AsyncConnection) -> AsyncIterator[DriverConnection[Any]]:
    """Psycopg's connection, whose errors are told as SQLAlchemy tells them."""
    raw = connection.sync_connection
    assert raw is not None
    driver: Any = raw.connection.driver_connection
    try:
        yield driver
    except Error as error:
        raise DBAPIError.instance(None, None, error, Error, dialect=connection.dialect) from error
    except asyncio.CancelledError:  # the server may not have come to what was to be prepared
        driver._prepared.clear()  # noqa: SLF001 - there is no other way
        raise
    finally:
        # Once a commit was sent, the pool takes the transaction for ended, and would not undo it.
        if driver.info.transaction_status == TransactionStatus.INERROR:
            await driver.rollback()


@asynccontextmanager
async def _sent_together(driver: DriverConnection[Any]) -> AsyncIterator[None]:
    """A pipeline that hands each statement of the block to libpq, and sends all at its end; a commit in it is a statement, too.

    Psycopg's own waits until a transaction has begun, and looks at each statement whether it can be sent and others are
    answered, which takes as long as to send it.
    """
    async with driver.pipeline() as pipeline:

        def hand_over() -> tuple[()]:
            # At once: by what libpq has, psycopg tells whether a transaction has begun, and what is prepared.
            while pipeline.command_queue:
                pipeline.command_queue.popleft()()
            return ()  # what is waited for

        own: Any = pipeline
        own._communicate_gen = own._sync_gen = hand_over  # noqa: SLF001 - there is no other way
        try:
            yield
        finally:
            del own._communicate_gen, own._sync_gen  # noqa: SLF001
        await _send_all(driver)


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


def _named(statement: str, cursor: Any) -> Any:
    """Makes rows named tuples without counting the columns of each, which takes half of the time.

    Nor are columns named again for each result of a statement, unless it has others by now.
    """
    key = statement, cursor.pgresult.nfields if cursor.pgresult else 0
    if (made := _MAKERS.get(key)) is None:
        make: Any = namedtuple_row(cursor)
        new: Any = tuple.__new__
        made = partial(new, make.__self__) if isinstance(make, MethodType) else make
        if len(_MAKERS) >= _MOST_STATEMENTS:
            _MAKERS.clear()
        _MAKERS[key] = made
    return made


def array_of(numbers: Iterable[float]) -> str:
    """Numbers as Postgres writes an array of them; the driver would look at each."""
    return "{" + ",".join(map(str, numbers)) + "}"


@lru_cache(_MOST_STATEMENTS)
def written(statement: TextClause) -> str:
    """A statement as psycopg takes it."""
    return str(statement.compile(dialect=_DIALECT))


def _refuse_closed(connection: Any, _record: Any, _proxy: Any) -> None:
    if connection.driver_connection.pgconn.pipeline_status != PipelineStatus.OFF:
        raise InvalidatePoolError("it was left within a pipeline")
    poll = select.poll()
    poll.register(connection.driver_connection.fileno(), select.POLLIN)
    if poll.poll(0):
        raise InvalidatePoolError("the server has closed it")
