"""Checks of Postgres: its version, the role, the extension, the schema and the rights."""

from collections.abc import Callable

import psycopg

from mnestic.memory.addresses import describe_url
from mnestic.starter.health.findings import Finding, failed_finding
from mnestic.starter.wiring import Endpoints
from mnestic.stores.postgres.addresses import libpq_url
from mnestic.stores.postgres.poolers import is_pooled
from mnestic.stores.postgres.queries import fetch_rows, read_query
from mnestic.stores.postgres.rights import find_rights_problems, summarise
from mnestic.stores.postgres.schema import SCHEMA_VERSION, schema_version_of

_FIND_ROLE, _FIND_PGVECTOR = read_query("health.find_role"), read_query("health.find_pgvector")
_COUNT_DAMAGE = read_query("health.count_damage")
_LIST_UNUSABLE = read_query("health.list_unusable")
_OLDEST_POSTGRES = 150_000
_SET_IS_A_RIGHT = 160_000
_OLDEST_PGVECTOR = (0, 7)
REMEDY_POSTGRES = "start it, or correct MNESTIC_DATABASE_URL; `mnestic up` starts an embedded one"
_REMEDY_RIGHTS = "connect as a role that may read it, or correct MNESTIC_DATABASE_URL"


def check_postgres(endpoints: Endpoints) -> tuple[Finding, ...]:
    """Checks Postgres on a connection of its own."""
    url = endpoints.database_url.get_secret_value()
    address = libpq_url(url)
    try:
        connection = psycopg.connect(address, connect_timeout=5, autocommit=True)
    except psycopg.Error as error:
        found = f"{describe_url(url)} does not answer: {str(error).splitlines()[0]}"
        return (
            Finding(part="Postgres", ok=False, found=found, remedy=REMEDY_POSTGRES, essential=True),
        )
    with connection:
        essential = (
            _run_check(part, check, connection).model_copy(update={"essential": True})
            for part, check in _DATABASE_CHECKS.items()
        )
        return (*essential, _run_check("storage", _storage, connection))


def _run_check(
    part: str, check: Callable[[psycopg.Connection], Finding], connection: psycopg.Connection
) -> Finding:
    try:
        return check(connection)
    except Exception as error:  # noqa: BLE001 - whatever it is, the other checks are still made
        return failed_finding(part, error, remedy=_REMEDY_RIGHTS)


def _server(connection: psycopg.Connection) -> Finding:
    number = connection.info.server_version
    return Finding(
        part="Postgres",
        ok=number >= _OLDEST_POSTGRES,
        found=f"version {number // 10_000}.{number % 10_000}"
        + (", behind a connection pooler" if is_pooled(connection) else ""),
        remedy="upgrade it to version 15 or newer",
    )


def _role(connection: psycopg.Connection) -> Finding:
    # Since PostgreSQL 16 a member may become the role only if it was granted WITH SET.
    right = "SET" if connection.info.server_version >= _SET_IS_A_RIGHT else "MEMBER"
    (role,) = fetch_rows(connection, _FIND_ROLE, right=right)
    becomes = "works as mnestic_app" if role.is_member else "may not become mnestic_app"
    return Finding(
        part="role",
        ok=role.is_there and role.is_member,
        found=f"{role.name}, {becomes}",
        remedy=f"GRANT mnestic_app TO {role.name}" if role.is_there else "mnestic migrate",
    )


def _pgvector(connection: psycopg.Connection) -> Finding:
    rows = fetch_rows(connection, _FIND_PGVECTOR)
    version: str | None = rows[0].extversion if rows else None
    number = tuple(int(part) for part in (version or "0.0").split(".")[:2])
    return Finding(
        part="pgvector",
        ok=number >= _OLDEST_PGVECTOR,
        found=f"version {version}" if version else "not installed in this database",
        remedy="install pgvector 0.7 or newer on the server, then `mnestic migrate`",
    )


def _migrations(connection: psycopg.Connection) -> Finding:
    found = schema_version_of(connection)
    newer = found is not None and found > SCHEMA_VERSION
    return Finding(
        part="migrations",
        ok=found == SCHEMA_VERSION,
        found=f"schema {found or 'none'}, this version needs {SCHEMA_VERSION}",
        remedy="install a newer Mnestic" if newer else "mnestic migrate",
    )


def _rights(connection: psycopg.Connection) -> Finding:
    problems = [problem.what for problem in find_rights_problems(connection)]
    return Finding(
        part="rights",
        ok=not problems,
        found=summarise(problems) if problems else "all granted, and no others",
        remedy="mnestic migrate",
    )


def _storage(connection: psycopg.Connection) -> Finding:
    pages = sum(database.pages for database in fetch_rows(connection, _COUNT_DAMAGE))
    problems = [f"{pages} pages failed their checksum"] if pages else []
    unusable = fetch_rows(connection, _LIST_UNUSABLE)
    problems += [f"the index {index.name} cannot be used" for index in unusable]
    return Finding(
        part="storage",
        ok=not problems,
        found="; ".join(problems) or "no page failed its checksum, and all indexes can be used",
        remedy="restore a backup if pages failed: mnestic backup restore; REINDEX an index",
    )


_DATABASE_CHECKS = {
    "Postgres": _server,
    "role": _role,
    "pgvector": _pgvector,
    "migrations": _migrations,
    "rights": _rights,
}
