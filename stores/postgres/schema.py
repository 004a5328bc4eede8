"""The schema's version: what the database has, what this code needs, and the way there.

It runs as the owner of the tables, which the stores never do.
"""

import logging
from collections.abc import Callable
from typing import Any

import psycopg

from mnestic.memory.addresses import describe_url
from mnestic.memory.errors import ConfigurationError, SchemaVersionError
from mnestic.stores.postgres.queries import fetch_rows, read_query
from mnestic.stores.postgres.rights import make_role, repair_rights, summarise
from mnestic.stores.postgres.sqlstates import Meaning, meaning_of, reason_of, unavailable

SCHEMA_VERSION = "0044"  # the latest revision in migrations/versions; a test holds it to that
log = logging.getLogger("mnestic.schema")
FIND_TABLE, FIND_VERSION = read_query("schema.find_table"), read_query("schema.find_version")
_TAKE_LOCK = read_query("schema.lock")
_LOCK = 0x6D6E6573  # "mnes": one migration at a time in a database


def migrate(admin_url: str, *, report: Callable[[str], None] | None = None) -> str:
    """Brings the schema to this code's version, and roles, rights and walls to what it needs; returns that version.

    Args:
        admin_url: Of the role that owns the schema, or is to own it.
        report: Gets the problems of roles, rights and row-level security.

    Raises:
        DatabaseUnavailableError: Postgres does not answer.
        ConfigurationError: the role may not migrate, or pgvector is not there.
        SchemaVersionError: the database is newer than this code, or of a state between releases.
    """
    from mnestic.stores.postgres.migration import migrating, upgrade  # noqa: PLC0415 - Alembic takes a second to import

    try:
        with migrating(admin_url) as connection:
            driver = connection.connection.driver_connection
            assert isinstance(driver, psycopg.Connection)
            fetch_rows(driver, _TAKE_LOCK, lock=_LOCK)
            found = schema_version_of(driver)
            if found is not None and found > SCHEMA_VERSION:
                check_version(found)
            make_role(driver)  # which older migrations grant rights to
            if found != SCHEMA_VERSION:
                upgrade(connection)
            if amiss := repair_rights(driver):
                log.warning("rights are repaired", extra={"amiss": amiss})
                if report is not None:
                    report(f"Repaired: {summarise(amiss)}.")
    except psycopg.Error as error:
        raise _translate(error, admin_url) from error
    return SCHEMA_VERSION


def schema_version_of(connection: psycopg.Connection[Any]) -> str | None:
    """The schema version that the database has, None if it was never migrated."""
    (table,) = fetch_rows(connection, FIND_TABLE)
    found = fetch_rows(connection, FIND_VERSION) if table.is_there else ()
    return found[0].version_num if found else None


def check_version(found: str | None) -> None:
    """Refuses a schema of another version.

    Raises:
        SchemaVersionError: says how to resolve it.
    """
    if found == SCHEMA_VERSION:
        return
    if found is not None and found > SCHEMA_VERSION:
        raise SchemaVersionError(
            found=found,
            wanted=SCHEMA_VERSION,
            remedy="install the version of Mnestic that migrated it, or a newer one",
        )
    if found is None:
        raise never_migrated()
    raise SchemaVersionError(found=found, wanted=SCHEMA_VERSION, remedy="run `mnestic migrate`")


def never_migrated() -> SchemaVersionError:
    """The error of a database in which our schema is not."""
    return SchemaVersionError(found="none", wanted=SCHEMA_VERSION, remedy="run `mnestic migrate`")


def _translate(error: psycopg.Error, url: str) -> Exception:
    why = reason_of(error)
    if "vector" in why and ("available" in why or "control file" in why):
        return ConfigurationError(
            setting="MNESTIC_DATABASE_URL",
            why=f"this Postgres has no pgvector ({why}); install the extension, version 0.7 or newer",
        )
    is_refused = isinstance(error, psycopg.ProgrammingError)
    if is_refused and meaning_of(error) is not Meaning.UNAVAILABLE:
        return ConfigurationError(
            setting="MNESTIC_DATABASE_ADMIN_URL", why=f"the schema could not be migrated: {why}"
        )
    return unavailable(error, where=describe_url(url))
