"""Roles, rights and walls between tenants: what a dump leaves behind, and what `migrate` puts right."""

import uuid
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
import yaml
from psycopg import sql
from psycopg.rows import TupleRow
from sqlalchemy import create_engine
from sqlalchemy.pool import NullPool

from mnestic.memory.errors import ConfigurationError, DatabaseUnavailableError
from mnestic.stores.postgres.memory import PostgresMemory
from mnestic.stores.postgres.migration import upgrade
from mnestic.stores.postgres.rights import find_rights_problems
from mnestic.stores.postgres.schema import SCHEMA_VERSION, migrate
from tests.stores.declared_tables import declared_tables

Owner = psycopg.Connection[TupleRow]
SPOILT = yaml.safe_load(Path(__file__).with_name("spoilt_rights.yaml").read_text("utf-8"))


@pytest.fixture
def migrated(module_url: str) -> Iterator[str]:
    """The owner's address of a database that this test may spoil."""
    yield module_url
    migrate(module_url)


def spoil(url: str, *statements: str) -> None:
    with psycopg.connect(url, autocommit=True) as owner:
        for statement in statements:
            owner.execute(statement)  # type: ignore[call-overload]


def amiss(url: str) -> list[str]:
    with psycopg.connect(url) as connection:
        return [one.what for one in find_rights_problems(connection)]


async def note(url: str) -> int:
    """Writes and reads as the application."""
    memory = PostgresMemory(url.replace("postgres@", "mnestic_app@"), pool_size=1)
    try:
        async with memory.transaction(
            tenant_id="t", agent_id="ada", actor="test", write=True
        ) as transaction:
            await transaction.records.set("n", "k", 1)
            return (await transaction.records.get("n", "k")).version
    finally:
        await memory.close()


def test_what_is_declared_is_what_migrations_make(empty_url: str) -> None:
    engine = create_engine(
        "postgresql+psycopg://", creator=lambda: psycopg.connect(empty_url), poolclass=NullPool
    )
    with engine.begin() as connection:
        upgrade(connection)

    assert amiss(empty_url) == []


def test_every_table_and_function_is_declared(migrated: str) -> None:
    spoil(migrated, "REVOKE ALL ON ALL TABLES IN SCHEMA mnestic FROM mnestic_app")
    tables = {what.rpartition(" ")[2].partition(".")[0] for what in amiss(migrated)}
    spoil(
        migrated,
        "DROP OWNED BY mnestic_app",
        "REVOKE ALL ON ALL FUNCTIONS IN SCHEMA mnestic FROM PUBLIC",
    )
    with psycopg.connect(migrated) as connection:
        rows = connection.execute(
            "SELECT proname FROM pg_proc WHERE pronamespace = 'mnestic'::regnamespace"
        ).fetchall()
    functions = {what.rpartition(" ")[2] for what in amiss(migrated) if "EXECUTE" in what}

    assert tables == declared_tables() | {"alembic_version", "tenant_record"}
    assert functions == {name for (name,) in rows}


@pytest.mark.parametrize("case", SPOILT, ids=lambda case: case["told"])
def test_what_was_spoilt_is_seen_and_mended(migrated: str, case: dict[str, str]) -> None:
    spoil(migrated, case["statement"])

    assert amiss(migrated) == [case["told"]]
    assert migrate(migrated) == SCHEMA_VERSION
    assert amiss(migrated) == []


async def test_a_database_without_any_grant_or_wall_works_again(migrated: str) -> None:
    """As a dump leaves it that was restored without privileges and policies."""
    tables = declared_tables() - {"tenant"}
    spoil(
        migrated,
        "DROP OWNED BY mnestic_app",
        "DROP VIEW mnestic.tenant_record",
        "GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA mnestic TO PUBLIC",
        *(statement for name in tables for statement in unwall(name)),
    )
    with pytest.raises(DatabaseUnavailableError, match="mnestic migrate"):
        await note(migrated)

    migrate(migrated)

    assert await note(migrated) == 1
    assert amiss(migrated) == []
    with psycopg.connect(migrated.replace("postgres@", "mnestic_app@")) as application:
        assert application.execute("SELECT * FROM mnestic.long_term_record").fetchall() == []


def test_a_database_of_an_older_version_is_migrated_where_no_rights_are_left(
    empty_url: str,
) -> None:
    engine = create_engine(
        "postgresql+psycopg://", creator=lambda: psycopg.connect(empty_url), poolclass=NullPool
    )
    with engine.begin() as connection:
        upgrade(connection, to="0006")
    spoil(empty_url, "DROP OWNED BY mnestic_app")

    migrate(empty_url)

    assert amiss(empty_url) == []


def test_who_does_not_own_the_schema_is_told_who_does(migrated: str, owner: Owner) -> None:
    name = f"other_{uuid.uuid4().hex[:12]}"
    role = sql.Identifier(name)
    url = migrated.replace("postgres@", f"{name}@")
    owner.execute(sql.SQL("CREATE ROLE {} LOGIN IN ROLE mnestic_app").format(role))
    try:
        assert migrate(url) == SCHEMA_VERSION  # where nothing is amiss, anybody may look
        spoil(migrated, "REVOKE INSERT ON mnestic.entry FROM mnestic_app")

        with pytest.raises(ConfigurationError, match=r"MNESTIC_DATABASE_ADMIN_URL.*name postgres"):
            migrate(url)
    finally:
        owner.execute(sql.SQL("DROP ROLE {}").format(role))


def test_an_owner_who_is_no_superuser_mends_rights(empty_url: str, owner: Owner) -> None:
    name = f"owner_{uuid.uuid4().hex[:12]}"
    role, url = sql.Identifier(name), empty_url.replace("postgres@", f"{name}@")
    owner.execute(sql.SQL("CREATE ROLE {} LOGIN CREATEROLE").format(role))
    owner.execute(sql.SQL("GRANT mnestic_app TO {} WITH ADMIN OPTION").format(role))
    spoil(
        empty_url,
        "CREATE EXTENSION vector",
        f"GRANT CREATE ON DATABASE {database_of(url)} TO {name}",
    )
    try:
        migrate(url)
        spoil(url, "REVOKE INSERT ON mnestic.entry FROM mnestic_app", *unwall("fact"))
        owner.execute(sql.SQL("REVOKE mnestic_app FROM {} CASCADE").format(role))

        assert len(amiss(url)) == 4
        migrate(url)
        assert amiss(url) == []
    finally:
        spoil(empty_url, f"DROP OWNED BY {name} CASCADE")
        owner.execute(sql.SQL("DROP ROLE {}").format(role))


def database_of(url: str) -> str:
    return url.partition("?")[0].rpartition("/")[2]


def unwall(table: str) -> tuple[str, ...]:
    """What takes the wall away from a table."""
    return (
        f"DROP POLICY tenant ON mnestic.{table}",
        f"ALTER TABLE mnestic.{table} DISABLE ROW LEVEL SECURITY, NO FORCE ROW LEVEL SECURITY",
    )
