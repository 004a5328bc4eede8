"""The migrations: which there are, how they run, and what becomes of the rows that are there."""

from concurrent.futures import ThreadPoolExecutor
from importlib.resources import as_file, files

import psycopg
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine
from sqlalchemy.pool import NullPool

from mnestic.memory.working import WorkingMemory
from mnestic.stores.postgres.memory import PostgresMemory
from mnestic.stores.postgres.migration import upgrade
from mnestic.stores.postgres.schema import SCHEMA_VERSION, driver_url, migrate

STATE_OF_0_1_0 = """
INSERT INTO mnestic.working_memory (tenant_id, agent_id, session_id, version, state, updated_at)
VALUES ('t1', 'ada', 's1', 3, %s, now())
"""


def test_the_code_needs_the_latest_migration() -> None:
    with as_file(files("mnestic.stores.postgres") / "migrations") as folder:
        config = Config()
        config.set_main_option("script_location", str(folder))

        head = ScriptDirectory.from_config(config).get_current_head()

    assert head == SCHEMA_VERSION


def test_migrating_again_changes_nothing(admin_url: str) -> None:
    versions = [migrate(admin_url), migrate(admin_url)]

    assert versions == [SCHEMA_VERSION] * 2


def test_two_migrations_at_once_make_one_schema(empty_url: str) -> None:
    with ThreadPoolExecutor(2) as pool:
        versions = list(pool.map(migrate, [empty_url, empty_url]))

    assert versions == [SCHEMA_VERSION] * 2
    with psycopg.connect(empty_url) as connection:
        rows = connection.execute("SELECT version_num FROM mnestic.alembic_version").fetchall()
    assert rows == [(SCHEMA_VERSION,)]


async def test_working_memory_of_0_1_0_becomes_what_a_snapshot_takes_over(empty_url: str) -> None:
    state = WorkingMemory(version=3, last_checkpoint="n1", variables={"b": 1.5, "a": "é"})
    engine = create_engine(driver_url(empty_url), poolclass=NullPool)
    with engine.begin() as connection:
        upgrade(connection, to="0001")
    with psycopg.connect(empty_url) as connection:
        connection.execute(STATE_OF_0_1_0, [state.model_dump_json()])

    migrate(empty_url)

    memory = PostgresMemory(empty_url)
    async with memory.transaction(
        tenant_id="t1", agent_id="ada", actor="test", write=False
    ) as transaction:
        document = await transaction.working.load_document("s1")
        found = await transaction.working.load("s1")
    await memory.close()
    assert document == state.document()
    assert found == state
    with psycopg.connect(empty_url) as connection:
        walled = connection.execute(
            "SELECT relforcerowsecurity FROM pg_class WHERE relname = 'working_memory'"
        ).fetchone()
    assert walled == (True,)
