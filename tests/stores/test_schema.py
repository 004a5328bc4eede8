"""The Postgres schema: its migrations, its walls, and what is said when it is not as it should be."""

import asyncio
import re
import socket
import time
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from psycopg import sql
from psycopg.rows import TupleRow
from sqlalchemy import CheckConstraint, create_engine, inspect

from mnestic.memory.errors import (
    ConfigurationError,
    DatabaseUnavailableError,
    SchemaVersionError,
)
from mnestic.memory.jobs.working_memory import WorkingMemory
from mnestic.starter.settings import Settings
from mnestic.stores.postgres.memory import PostgresMemory
from mnestic.stores.postgres.queries import NamedQuery
from mnestic.stores.postgres.schema import (
    check_version,
    migrate,
)
from mnestic.stores.postgres.tables import Table
from tests.stores.declared_tables import declared_tables

Owner = psycopg.Connection[TupleRow]
NAMES = sorted(declared_tables())
WALLED = [name for name in NAMES if name != "tenant"]  # read before a worker becomes one


@pytest.fixture
def make_login(owner: Owner) -> Iterator[Callable[[str], str]]:
    """Makes a role that may log in, and drops it in the end."""
    made = []

    def make(grant: str) -> str:
        name = f"login_{uuid.uuid4().hex[:12]}"
        made.append(name)
        owner.execute(sql.SQL("CREATE ROLE {} LOGIN").format(sql.Identifier(name)))
        owner.execute(sql.SQL(grant).format(role=sql.Identifier(name)))  # type: ignore[arg-type]
        return name

    yield make
    for name in made:
        owner.execute(sql.SQL("DROP OWNED BY {}").format(sql.Identifier(name)))
        owner.execute(sql.SQL("DROP ROLE {}").format(sql.Identifier(name)))


@pytest.fixture
def application(application_url: str) -> Iterator[Owner]:
    """A connection as the application's role, before any tenant is set."""
    with psycopg.connect(application_url, autocommit=True) as connection:
        yield connection


def with_database(url: str, name: str) -> str:
    return re.sub(r"/test_[0-9a-f]+\?", f"/{name}?", url)


def with_user(url: str, name: str) -> str:
    return url.replace("://postgres@", f"://{name}@")


async def check(url: str) -> None:
    memory = PostgresMemory(url, pool_size=1)
    try:
        await memory.check()
    finally:
        await memory.close()


async def write(url: str, tenant: str) -> WorkingMemory:
    memory = PostgresMemory(url, pool_size=1)
    try:
        async with memory.transaction(
            tenant_id=tenant, agent_id="ada", actor="test", write=True
        ) as transaction:
            return await transaction.working.save("s1", WorkingMemory().with_note("x"))
    finally:
        await memory.close()


def test_models_and_migrations_agree(module_url: str) -> None:
    engine = create_engine("postgresql+psycopg://", creator=lambda: psycopg.connect(module_url))
    options = {
        "include_schemas": True,
        "version_table_schema": "mnestic",
        "compare_type": True,
        "compare_server_default": True,
    }

    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts=options)
        differences = compare_metadata(context, Table.metadata)

    engine.dispose()
    # A restore into this database writes who it is as a comment.
    restored = ("remove_table_comment", "agent_revision")
    assert [one for one in differences if _named(one) != restored] == []


def _named(difference: Any) -> Any:
    """What differs, and of which table; a list of differences of columns as it is."""
    return (difference[0], difference[1].name) if isinstance(difference, tuple) else difference


def test_checks_and_partial_indexes_agree_too(module_url: str) -> None:
    engine = create_engine("postgresql+psycopg://", creator=lambda: psycopg.connect(module_url))
    inspector = inspect(engine)
    made: set[tuple[str, str | None]] = set()
    partial: set[tuple[str, str | None]] = set()

    for name in NAMES:
        checks = inspector.get_check_constraints(name, schema="mnestic")
        made |= {(name, check["name"]) for check in checks}
        indexes = inspector.get_indexes(name, schema="mnestic")
        partial |= {
            (name, index["name"])
            for index in indexes
            if index.get("dialect_options", {}).get("postgresql_where")
        }

    engine.dispose()
    tables = Table.metadata.tables.values()
    assert made == {
        (table.name, constraint.name)
        for table in tables
        for constraint in table.constraints
        if isinstance(constraint, CheckConstraint)
    }
    assert partial == {
        (table.name, index.name)
        for table in tables
        for index in table.indexes
        if index.dialect_options["postgresql"]["where"] is not None
    }


async def test_a_database_newer_than_the_code_is_refused_and_left_alone(empty_url: str) -> None:
    await asyncio.to_thread(migrate, empty_url)
    with psycopg.connect(empty_url, autocommit=True) as connection:
        connection.execute("UPDATE mnestic.alembic_version SET version_num = '9999'")

    with pytest.raises(SchemaVersionError, match=r"9999.*newer"):
        await asyncio.to_thread(migrate, empty_url)
    with pytest.raises(SchemaVersionError, match=r"9999.*newer"):
        await check(with_user(empty_url, "mnestic_app"))

    with psycopg.connect(empty_url) as connection:
        row = connection.execute("SELECT version_num FROM mnestic.alembic_version").fetchone()
    assert row == ("9999",)


async def test_a_database_that_was_never_migrated_says_how_to_mend_it(empty_url: str) -> None:
    with pytest.raises(SchemaVersionError, match="mnestic migrate"):
        await check(with_user(empty_url, "mnestic_app"))


async def test_writing_to_a_database_that_was_never_migrated_says_how_to_mend_it(
    empty_url: str,
) -> None:
    with pytest.raises(SchemaVersionError, match="mnestic migrate"):
        await write(with_user(empty_url, "mnestic_app"), "t1")


def test_an_older_database_says_how_to_mend_it() -> None:
    with pytest.raises(SchemaVersionError, match="mnestic migrate"):
        check_version("0000")


def test_who_may_not_migrate_is_told_so(empty_url: str, make_login: Callable[[str], str]) -> None:
    login = make_login("GRANT mnestic_app TO {role}")

    with pytest.raises(ConfigurationError, match="MNESTIC_DATABASE_ADMIN_URL"):
        migrate(with_user(empty_url, login))


@pytest.mark.parametrize("table", WALLED)
def test_every_table_has_a_tenant_and_a_wall_around_it(owner: Owner, table: str) -> None:
    columns = owner.execute(
        "SELECT column_name FROM information_schema.columns"
        " WHERE table_schema = 'mnestic' AND table_name = %s",
        [table],
    ).fetchall()
    secured = owner.execute(
        "SELECT relrowsecurity, relforcerowsecurity FROM pg_class"
        " WHERE oid = ('mnestic.' || %s)::regclass",
        [table],
    ).fetchone()
    policies = owner.execute(
        "SELECT cmd, permissive, qual, with_check FROM pg_policies"
        " WHERE schemaname = 'mnestic' AND tablename = %s",
        [table],
    ).fetchall()

    assert ("tenant_id",) in columns
    assert secured == (True, True)
    rule = "(tenant_id = current_setting('mnestic.tenant_id'::text, true))"
    assert [one for one in policies if one[1] == "PERMISSIVE"] == [
        ("ALL", "PERMISSIVE", rule, rule)
    ]


def test_no_table_of_the_schema_is_left_out(owner: Owner) -> None:
    rows = owner.execute(
        "SELECT tablename FROM pg_tables WHERE schemaname = 'mnestic'"
        " AND tablename <> 'alembic_version' ORDER BY tablename"
    ).fetchall()

    assert [name for (name,) in rows] == NAMES


def test_the_application_owns_nothing_and_cannot_pass_the_wall(owner: Owner) -> None:
    role = owner.execute(
        "SELECT rolsuper, rolbypassrls, rolcreaterole, rolcreatedb FROM pg_roles"
        " WHERE rolname = 'mnestic_app'"
    ).fetchone()
    owned = owner.execute(
        "SELECT relname FROM pg_class WHERE relowner = 'mnestic_app'::regrole"
    ).fetchall()
    may_create = owner.execute(
        "SELECT has_schema_privilege('mnestic_app', 'mnestic', 'CREATE')"
    ).fetchone()

    assert role == (False, False, False, False)
    assert owned == []
    assert may_create == (False,)


@pytest.mark.parametrize("table", WALLED)
async def test_without_a_tenant_the_application_sees_no_row(
    settings: Settings, owner: Owner, application: Owner, table: str, application_url: str
) -> None:
    await write(application_url, settings.tenant_id)
    query = sql.SQL("SELECT count(*) FROM mnestic.{}").format(sql.Identifier(table))

    seen = application.execute(query).fetchone()

    assert seen == (0,)
    if table in {"working_memory", "audit_log", "agent_revision"}:
        there = owner.execute(query).fetchone()
        assert there is not None
        assert there[0] > 0


def test_the_application_cannot_write_for_another_tenant(application: Owner) -> None:
    application.execute("SELECT set_config('mnestic.tenant_id', 'mine', false)")

    with pytest.raises(psycopg.errors.InsufficientPrivilege, match="row-level security"):
        application.execute(
            "INSERT INTO mnestic.agent_revision (tenant_id, agent_id, revision, updated_at)"
            " VALUES ('theirs', 'ada', 1, now())"
        )


@pytest.mark.parametrize("table", ["audit_log", "memory_snapshot", "resource"])
@pytest.mark.parametrize(
    "statement", ["UPDATE {} SET tenant_id = 'x'", "DELETE FROM {}", "TRUNCATE {}"]
)
def test_the_application_cannot_change_what_is_kept_for_good(
    application: Owner, table: str, statement: str
) -> None:
    target = sql.Identifier("mnestic", table)

    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        application.execute(sql.SQL(statement).format(target))  # type: ignore[arg-type]


async def test_an_audit_row_is_never_changed_not_even_by_the_owner(
    settings: Settings, owner: Owner, application_url: str
) -> None:
    await write(application_url, settings.tenant_id)

    with pytest.raises(psycopg.errors.RaiseException, match="immutable"):
        owner.execute("UPDATE mnestic.audit_log SET actor = 'nobody'")


@pytest.mark.parametrize(
    "grant", ["GRANT mnestic_app TO {role}", "GRANT mnestic_app TO {role} WITH INHERIT FALSE"]
)
async def test_a_member_of_the_application_runs_as_the_application(
    admin_url: str, settings: Settings, make_login: Callable[[str], str], grant: str
) -> None:
    url = with_user(admin_url, make_login(grant))

    await check(url)
    saved = await write(url, settings.tenant_id)

    assert saved.version == 1
    memory = PostgresMemory(url, pool_size=1)
    async with memory.transaction(
        tenant_id=settings.tenant_id, agent_id="ada", actor="test", write=False
    ) as transaction:
        made: Any = transaction
        running = await made.unit.fetch_one(NamedQuery.of("SELECT current_user"))
    await memory.close()
    assert tuple(running) == ("mnestic_app",)


async def test_even_the_owner_runs_as_the_application(admin_url: str, settings: Settings) -> None:
    await write(admin_url, settings.tenant_id)

    memory = PostgresMemory(admin_url, pool_size=1)
    async with memory.transaction(
        tenant_id="other", agent_id="ada", actor="test", write=False
    ) as transaction:
        found = await transaction.unit.fetch(
            NamedQuery.of("SELECT tenant_id FROM mnestic.working_memory")
        )
    await memory.close()

    assert found == []


async def test_a_login_that_is_no_member_is_told_so(
    admin_url: str, settings: Settings, make_login: Callable[[str], str]
) -> None:
    url = with_user(admin_url, make_login("COMMENT ON ROLE {role} IS 'a stranger'"))

    with pytest.raises(ConfigurationError, match="mnestic_app"):
        await check(url)
    with pytest.raises(ConfigurationError, match="mnestic_app"):
        await write(url, settings.tenant_id)


@pytest.fixture
def free_port() -> int:
    """A port at which nobody listens."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


async def test_an_unreachable_database_is_named_quickly_and_without_its_password(
    free_port: int,
) -> None:
    url = f"postgresql://app:s3cret@127.0.0.1:{free_port}/mnestic?sslpassword=hidden"
    began = time.monotonic()

    with pytest.raises(DatabaseUnavailableError, match=f"127.0.0.1:{free_port}") as of_check:
        await check(url)
    with pytest.raises(DatabaseUnavailableError, match=f"127.0.0.1:{free_port}") as of_write:
        await write(url, "t1")
    with pytest.raises(DatabaseUnavailableError, match=f"127.0.0.1:{free_port}") as of_migrate:
        await asyncio.to_thread(migrate, url)

    told = f"{of_check.value}{of_write.value}{of_migrate.value}"
    assert "s3cret" not in told
    assert "hidden" not in told
    assert time.monotonic() - began < 5


async def test_a_database_that_is_not_there_is_named(admin_url: str) -> None:
    with pytest.raises(DatabaseUnavailableError, match="nowhere"):
        await check(with_database(admin_url, "nowhere"))


@pytest.mark.parametrize(
    "url",
    [
        "",
        "mnestic.db",
        "mysql://root@localhost/mnestic",
        "postgresql://app@localhost:port/mnestic",
        "postgresql://app@[::1/mnestic",
    ],
)
async def test_a_malformed_address_is_refused_at_once(url: str) -> None:
    with pytest.raises(ConfigurationError, match="postgresql://"):
        PostgresMemory(url)
    with pytest.raises(ConfigurationError, match="postgresql://"):
        await asyncio.to_thread(migrate, url)
