"""What becomes of a database error: who has to act, and whether the work is tried again."""

from typing import Any

import psycopg
import pytest
from psycopg import sql

from mnestic.memory.errors import (
    DatabaseUnavailableError,
    InvalidInputError,
    SchemaVersionError,
)
from mnestic.starter.settings import Settings
from mnestic.stores.postgres.memory import PostgresMemory
from mnestic.stores.postgres.queries import NamedQuery
from tests.transactions import Begin

_RETRIED = [
    "08006",
    "08P01",
    "25006",
    "25P02",
    "25P03",
    "26000",
    "40001",
    "40P01",
    "42P05",
    "53100",
    "53200",
    "53300",
    "55P03",
    "57014",
    "57P01",
    "57P02",
    "57P03",
    "58030",
    "XX000",
    "XX001",
]
_OURS = ("0A000", "21000", "23505", "42601", "42703", "42883", "P0001")
_MENDED: tuple[tuple[str, type[Exception], str], ...] = (
    ("42501", DatabaseUnavailableError, "mnestic migrate"),
    ("28000", DatabaseUnavailableError, "mnestic migrate"),
    ("42P01", SchemaVersionError, "mnestic migrate"),
    ("3F000", SchemaVersionError, "mnestic migrate"),
    ("22003", InvalidInputError, "SQLSTATE 22003"),
    ("54000", InvalidInputError, "SQLSTATE 54000"),
)


async def fail(begin: Begin, state: str) -> None:
    """Has Postgres fail a statement with a code."""
    raising = f"DO $$ BEGIN RAISE EXCEPTION 'no luck' USING ERRCODE = '{state}'; END $$"
    async with begin() as transaction:
        made: Any = transaction
        await made.unit.write(NamedQuery.of(raising))


async def test_what_passes_is_tried_again(begin: Begin) -> None:
    for state in _RETRIED:
        with pytest.raises(DatabaseUnavailableError, match=f"says: SQLSTATE {state}"):
            await fail(begin, state)


async def test_what_somebody_has_to_mend_says_so_and_what_we_have_to_is_left_as_it_is(
    begin: Begin,
) -> None:
    for state, error, remedy in _MENDED:
        with pytest.raises(error, match=remedy):
            await fail(begin, state)
    for state in _OURS:
        with pytest.raises(psycopg.Error, match="no luck"):
            await fail(begin, state)


async def _ask(memory: PostgresMemory, settings: Settings) -> None:
    async with memory.transaction(
        tenant_id=settings.tenant_id, agent_id="ada", actor="test", write=True
    ) as transaction:
        await transaction.records.find("n", "k")


async def _driver(memory: PostgresMemory) -> psycopg.AsyncConnection[Any]:
    async with memory.pool.connect() as connection:
        return connection


async def test_a_lost_prepared_statement_is_not_taken_for_a_wrong_role(
    settings: Settings, application_url: str
) -> None:
    """As behind a pooler that is not known to be one: the first statement of a transaction is gone."""
    memory = PostgresMemory(application_url, pool_size=1)
    driver = await _driver(memory)
    driver.prepare_threshold = 0
    await _ask(memory, settings)
    names = await (await driver.execute("SELECT name FROM pg_prepared_statements")).fetchall()
    for (name,) in names:
        await driver.execute(sql.SQL("DEALLOCATE {}").format(sql.Identifier(name)), prepare=False)
    await driver.commit()
    assert names

    with pytest.raises(DatabaseUnavailableError, match="says: prepared statement"):
        await _ask(memory, settings)

    assert await _driver(memory) is driver
    await _ask(memory, settings)  # as a retry does
    await memory.close()


async def test_a_plan_of_other_columns_is_made_again(
    settings: Settings, admin_url: str, application_url: str
) -> None:
    memory = PostgresMemory(application_url, pool_size=1)
    driver = await _driver(memory)
    driver.prepare_threshold = 0
    asked = NamedQuery.of("SELECT * FROM public.changing WHERE %(tenant_id)s <> ''")

    async def ask() -> int:
        async with memory.transaction(
            tenant_id=settings.tenant_id, agent_id="ada", actor="test", write=False
        ) as transaction:
            made: Any = transaction
            return len(await made.unit.fetch_one(asked))

    with psycopg.connect(admin_url, autocommit=True) as owner:
        owner.execute("CREATE TABLE public.changing AS SELECT 1 AS one")
        owner.execute("GRANT SELECT ON public.changing TO mnestic_app")
        try:
            assert await ask() == 1
            owner.execute("ALTER TABLE public.changing ADD COLUMN two integer")

            with pytest.raises(DatabaseUnavailableError, match="says: cached plan"):
                await ask()

            assert await ask() == 2
        finally:
            owner.execute("DROP TABLE public.changing")
    await memory.close()
