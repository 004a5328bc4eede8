"""Sessions of the tables' owner that back up and restore, and the errors of these.

Transactions of the application may see one tenant alone.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg.rows import namedtuple_row

from mnestic.memory.addresses import describe_url
from mnestic.memory.errors import ConfigurationError
from mnestic.stores.postgres.addresses import libpq_url
from mnestic.stores.postgres.poolers import is_pooled
from mnestic.stores.postgres.priorities import share_priority
from mnestic.stores.postgres.queries import fetch_rows, read_query
from mnestic.stores.postgres.schema import never_migrated
from mnestic.stores.postgres.sqlstates import Meaning, meaning_of, reason_of, unavailable

Owner = psycopg.Connection[Any]
SETTING = "MNESTIC_DATABASE_ADMIN_URL"
_MAY = read_query("owner_sessions.find_right")
_SEES_ALL = read_query("owner_sessions.find_sight")


@contextmanager
def owner_session(admin_url: str) -> Iterator[Owner]:
    """A session of the owner of the tables, in which every statement is a transaction of its own.

    Raises:
        DatabaseUnavailableError: Postgres does not answer, or cannot do it now.
        SchemaVersionError: the tables are not there.
        ConfigurationError: the address is none, the role may not do it, or a pooler is in between.
    """
    try:
        with psycopg.connect(
            libpq_url(admin_url),
            autocommit=True,
            row_factory=namedtuple_row,
            connect_timeout=10,
            client_encoding="utf8",
            prepare_threshold=None,
        ) as owner:
            _check(owner)
            share_priority(owner)
            yield owner
    except psycopg.errors.UndefinedTable as error:
        raise never_migrated() from error
    except psycopg.Error as error:
        if meaning_of(error) is Meaning.LACKS_RIGHT:
            why = f"is of a role that may not do this: {reason_of(error)}"
            raise ConfigurationError(setting=SETTING, why=why) from error
        if meaning_of(error) is Meaning.UNAVAILABLE:
            raise unavailable(error, where=describe_url(admin_url)) from error
        raise


def sees_all(owner: Owner) -> bool:
    """Whether row-level security does not hold for the session's role."""
    return any(row.sees_all for row in fetch_rows(owner, _SEES_ALL))


def _check(owner: Owner) -> None:
    if is_pooled(owner):  # which parts the session that has the snapshot and the locks
        why = (
            "is of a connection pooler; name the database itself, since a backup needs one session"
        )
        raise ConfigurationError(setting=SETTING, why=why)
    if not any(row.may for row in fetch_rows(owner, _MAY)):
        why = "is of a role that does not own the tables; name the one that migrated them"
        raise ConfigurationError(setting=SETTING, why=why)
