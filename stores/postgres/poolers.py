"""Connection poolers between us and Postgres, and what must be left undone behind one.

A pooler in transaction mode (PgBouncer, Supabase's) gives each transaction any of its own connections to the server. So
nothing that belongs to a session lasts from one transaction to the next: no prepared statement, no setting, no lock.
"""

from typing import Any

import psycopg
from psycopg import BaseConnection

from mnestic.stores.postgres.queries import fetch_rows, read_query

_MOST_PREPARED = 300  # statements of a connection, which are about all that there are
_FIND_PROCESS = read_query("poolers.find_process")


def is_pooled(connection: psycopg.Connection[Any]) -> bool:
    """Whether a pooler is between an owner's or a checker's connection and the server."""
    (found,) = fetch_rows(connection, _FIND_PROCESS)
    return tuple(found) != _announced(connection)


async def prepare_unless_pooled(connection: psycopg.AsyncConnection[Any]) -> None:
    """Has a connection keep its statements prepared, but none where a pooler is in between."""
    found = await (await connection.execute(_FIND_PROCESS.text)).fetchone()
    if found != _announced(connection):
        connection.prepare_threshold = None
    connection.prepared_max = _MOST_PREPARED


def _announced(driver: BaseConnection[Any]) -> tuple[int]:
    """The server's process as it was announced when the connection began: a pooler, which knows none yet, makes one up."""
    return (driver.info.backend_pid,)
