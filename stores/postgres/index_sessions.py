"""Sessions of the owner of the tables that build indexes for one tenant, while everybody goes on reading and writing.

Those of vectors and those of records are built alike: one builds at a time.
"""

import hashlib
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg import sql

from mnestic.memory.addresses import describe_url
from mnestic.memory.errors import ConfigurationError
from mnestic.stores.postgres.addresses import libpq_url
from mnestic.stores.postgres.poolers import is_pooled
from mnestic.stores.postgres.priorities import share_priority
from mnestic.stores.postgres.queries import fetch_rows, read_query
from mnestic.stores.postgres.schema import never_migrated
from mnestic.stores.postgres.sqlstates import unavailable

_LOCK = 0x6D6E6978  # "mnix": one at a time in a database

_THERE = read_query("index_sessions.list_indexes")
_MAY = read_query("index_sessions.find_right")
_AS_TENANT = read_query("index_sessions.set_tenant")
_TRY_LOCK, _UNLOCK = read_query("index_sessions.try_lock"), read_query("index_sessions.unlock")


@contextmanager
def index_session(admin_url: str, tenant_id: str) -> Iterator[psycopg.Connection[Any]]:
    """A connection of the owner of the tables, as a tenant, that alone builds indexes until it ends.

    Raises:
        DatabaseUnavailableError: Postgres does not answer, or cannot do it now.
        SchemaVersionError: the tables are not there.
        ConfigurationError: somebody else is at it, the role may not do it, or a pooler is in between.
    """
    try:
        with psycopg.connect(libpq_url(admin_url), autocommit=True) as owner:
            share_priority(owner)
            _require_rights(owner)
            (row,) = fetch_rows(owner, _TRY_LOCK, lock=_LOCK)
            if not row.locked:
                why = "is where somebody builds indexes right now; wait until they are done"
                raise ConfigurationError(setting="MNESTIC_DATABASE_ADMIN_URL", why=why)
            try:
                # row-level security holds for an owner too
                fetch_rows(owner, _AS_TENANT, tenant_id=tenant_id)
                yield owner
            finally:  # a closed connection may hold it a little longer
                fetch_rows(owner, _UNLOCK, lock=_LOCK)
    except psycopg.errors.UndefinedTable as error:
        raise never_migrated() from error
    except psycopg.OperationalError as error:
        raise unavailable(error, where=describe_url(admin_url)) from error


def sort_indexes(
    owner: psycopg.Connection[Any], table: str, *, prefix: str, worth: Collection[str]
) -> tuple[frozenset[str], tuple[str, ...]]:
    """The names of a table's indexes that stay, and of those that are not worth their place or were never completed.

    Args:
        owner: The session.
        table: Whose indexes they are.
        prefix: What their names begin with.
        worth: The names of those that are worth their place.
    """
    there = fetch_rows(owner, _THERE, table=table, prefix=prefix)
    staying = frozenset(row.name for row in there if row.is_valid and row.name in worth)
    return staying, tuple(row.name for row in there if row.name not in staying)


def drop_indexes(owner: psycopg.Connection[Any], names: Iterable[str]) -> None:
    """Drops indexes, if they are there."""
    for name in names:
        dropped = sql.SQL("DROP INDEX CONCURRENTLY IF EXISTS mnestic.{}")
        owner.execute(dropped.format(sql.Identifier(name)))


def short_hash(text: str) -> str:
    """A part of an index's name that stands for a text of any length."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _require_rights(owner: psycopg.Connection[Any]) -> None:
    if is_pooled(owner):  # which parts the session that has the lock, the tenant and the settings
        why = (
            "is of a connection pooler; name the database itself, since an index needs one session"
        )
        raise ConfigurationError(setting="MNESTIC_DATABASE_ADMIN_URL", why=why)
    if not any(row.may for row in fetch_rows(owner, _MAY)):
        why = "is of a role that does not own the tables; name the one that migrated them"
        raise ConfigurationError(setting="MNESTIC_DATABASE_ADMIN_URL", why=why)
