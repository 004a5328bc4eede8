"""Connection poolers between us and Postgres, and what must be left undone behind one.

A pooler in transaction mode (PgBouncer, Supabase's) gives each transaction any of its own connections to the server. So
nothing that belongs to a session lasts from one transaction to the next: no prepared statement, no setting, no lock.
"""

from typing import Any

import psycopg
from psycopg import BaseConnection
from psycopg.rows import tuple_row
from sqlalchemy import event
from sqlalchemy.ext.asyncio import AsyncEngine

_BACKEND_PID = "SELECT pg_backend_pid()"


def is_pooled(connection: psycopg.Connection[Any]) -> bool:
    """Whether a pooler is between an owner's or a checker's connection and the server."""
    with connection.cursor(row_factory=tuple_row) as cursor:
        found = cursor.execute(_BACKEND_PID).fetchone()
    return found != _announced(connection)


def prepare_unless_pooled(engine: AsyncEngine) -> None:
    """Has each new connection of a pool prepare no statements where a pooler is in between."""
    event.listen(engine.sync_engine, "connect", _prepare_unless_pooled)


def _prepare_unless_pooled(connection: Any, _record: Any) -> None:
    driver = connection.driver_connection
    cursor = connection.cursor()
    cursor.execute(_BACKEND_PID)
    found = cursor.fetchone()
    cursor.close()
    if tuple(found) != _announced(driver):
        driver.prepare_threshold = None


def _announced(driver: BaseConnection[Any]) -> tuple[int]:
    """The server's process as it was announced when the connection began: a pooler, which knows none yet, makes one up."""
    return (driver.info.backend_pid,)
