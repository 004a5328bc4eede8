"""A scratch database: at any schema that this code knows, beside the real one, and dropped again.

Only verifying and migrating backups need it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import quote

import psycopg
from psycopg import sql

from mnestic.memory.addresses import describe_url
from mnestic.memory.errors import ConfigurationError, UnavailableError
from mnestic.stores.postgres.addresses import libpq_url
from mnestic.stores.postgres.maintenance.owner_sessions import SETTING, owner_session
from mnestic.stores.postgres.queries import fetch_rows, read_query
from mnestic.stores.postgres.sqlstates import Meaning, meaning_of, reason_of, unavailable

_LOCK = 0x6D6E7363  # "mnsc": one at a time beside a database
_WAIT = read_query("scratch_database.set_wait")
_LONGEST_NAME = 40  # bytes of the database's own name that its scratch database has
_TAKE = read_query("scratch_database.lock")
_OWN = read_query("scratch_database.find_database")


@contextmanager
def scratch_database(admin_url: str, *, schema: str) -> Iterator[str]:
    """Makes an empty database with the tables of a schema revision for a block; gives its owner's address.

    Raises:
        UnavailableError: another process uses it, or Postgres does not answer.
        ConfigurationError: the role may not create databases or migrate.
    """
    with owner_session(admin_url) as owner:
        try:
            fetch_rows(owner, _WAIT)
            fetch_rows(owner, _TAKE, lock=_LOCK)
        except psycopg.errors.LockNotAvailable:
            why = "another process uses the scratch database; try again when it has ended"
            raise UnavailableError(why) from None
        (own,) = fetch_rows(owner, _OWN, longest_name=_LONGEST_NAME)
        name = sql.Identifier(own.name)
        drop = sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(name)
        owner.execute(drop)  # a killed process may have left it behind
        create = sql.SQL(
            "CREATE DATABASE {} TEMPLATE template0 ENCODING {} LC_COLLATE {} LC_CTYPE {}"
        )
        owner.execute(create.format(name, own.encoding, own.datcollate, own.datctype))
        try:
            address = _in_database(admin_url, own.name)
            migrate_scratch(address, to=schema)
            yield address
        finally:
            owner.execute(drop)


def migrate_scratch(url: str, *, to: str) -> None:
    """Brings the tables of a scratch database to a schema revision.

    Raises:
        ConfigurationError: the role may not migrate.
        DatabaseUnavailableError: Postgres does not answer.
    """
    from mnestic.stores.postgres.migration import migrating, upgrade  # noqa: PLC0415 - Alembic takes a second to import

    try:
        with migrating(url) as connection:
            upgrade(connection, to=to)
    except psycopg.Error as error:
        if meaning_of(error) is Meaning.UNAVAILABLE:
            raise unavailable(error, where=describe_url(url)) from error
        why = f"the scratch database could not be migrated: {reason_of(error)}"
        raise ConfigurationError(setting=SETTING, why=why) from error


def _in_database(url: str, name: str) -> str:
    """The address of another database of the same server."""
    place, _, options = libpq_url(url).partition("?")
    server = place.removeprefix("postgresql://").partition("/")[0]
    return f"postgresql://{server}/{quote(name, safe='')}" + (f"?{options}" if options else "")
