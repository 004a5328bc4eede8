"""Plans that are kept, for a large agent among thousands of tiny ones: none reads all that the agent has."""

import re
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager
from typing import Any

import psycopg
import pytest
from psycopg import sql
from psycopg.rows import scalar_row

from mnestic.starter.client.client_scope import client_caller
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.stores.postgres.memory import PostgresMemory
from tests.stores.plan_samples import keep, parts_of, plans_of, statements_of

# Entries of the large agent, and how many times as many tiny agents have one each.
OWN, TIMES = 1000, 20
# Of each table, what the rows of one tiny agent have in common.
TABLES = {
    "entry": "number",
    "entry_term": "entry_number",
    "posting": "first_number",
    "embedding": "entry_number",
    "claim": "id",
    "fact": "id",
}
QUESTIONS = (
    ("What did Mara say about the tide and the harbour?", {}),
    ("Where does Jonas live?", {}),
    ("Where did Jonas live last year?", {"asked_at": "2016-01-05T00:00:00Z"}),
    ("Who went to the concert last week?", {"asked_at": "2015-01-05T00:00:00Z"}),
    ("Where do Jnoas and Mara live?", {}),
    ("the harbour", {"mode": "text"}),
)
COPY = sql.SQL("""
INSERT INTO mnestic.{table} (tenant_id, agent_id, {columns}) OVERRIDING SYSTEM VALUE
SELECT tenant_id, concat_ws('-', 'tiny', place, {row}), {columns}
  FROM mnestic.{table} CROSS JOIN generate_series(1, %s) AS place
""")
# How often each statement was planned anew, of those that ran as often as entries were added.
PLANS = """
SELECT statement, custom_plans FROM pg_prepared_statements WHERE generic_plans + custom_plans >= 10
"""
COLUMNS = """
SELECT column_name FROM information_schema.columns
 WHERE table_schema = 'mnestic' AND table_name = %s AND is_generated = 'NEVER'
   AND column_name NOT IN ('tenant_id', 'agent_id')
"""


@pytest.fixture
async def large(
    new_database: Callable[[], AbstractContextManager[str]],
) -> AsyncIterator[tuple[MemoryClient, str]]:
    """An agent in whose database nearly all others have one entry, and that database, as the application."""
    with new_database() as url:
        as_application = url.replace("postgres@", "mnestic_app@")
        memory = PostgresMemory(as_application)
        await keep(memory, tenant="t", number=OWN)
        with psycopg.connect(url, autocommit=True) as owner:
            for table, row in TABLES.items():
                cursor = owner.cursor(row_factory=scalar_row)
                columns = cursor.execute(COLUMNS, [table]).fetchall()
                named = {
                    "table": sql.Identifier(table),
                    "columns": sql.SQL(", ").join(map(sql.Identifier, columns)),
                    "row": sql.Identifier(row),
                }
                owner.execute(COPY.format(**named), [TIMES])
            owner.execute("VACUUM ANALYZE")
        yield MemoryClient(client_caller(memory, tenant_id="t", agent_id="base")), as_application
        await memory.close()


@pytest.mark.acceptance
async def test_a_generic_plan_reads_not_all_that_a_large_agent_has(
    large: tuple[MemoryClient, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    client, url = large
    asked = [await statements_of(client, monkeypatch, text, **more) for text, more in QUESTIONS]

    plans = [one for each in asked for one in await plans_of(url, each, "ANALYZE,")]

    reading = {
        (part["Relation Name"], part["Index Name"], part.get("Index Cond"))
        for one in plans
        for part in parts_of(one.plan)
        if part.get("Relation Name") in TABLES
        and part["Actual Loops"]  # what filters read is there, and is not run without any
        and is_of_the_agent_alone(part)
    }
    assert len(plans) >= 3 * len(QUESTIONS)
    assert not reading


@pytest.mark.acceptance
async def test_what_adds_an_entry_is_planned_a_few_times(large: tuple[MemoryClient, str]) -> None:
    memory = PostgresMemory(large[1], pool_size=1)
    client = MemoryClient(client_caller(memory, tenant_id="t", agent_id="new"))

    for number in range(10):
        await client.add(f"The {number}. crate is full.")
    async with memory.pool.connect() as connection:
        plans = await (await connection.execute(PLANS)).fetchall()
    await memory.close()

    assert len(plans) >= 4
    assert {number for _, number in plans} == {5}, plans  # then Postgres keeps one plan


def test_an_agent_seems_to_have_a_hundredth_of_every_table(admin_url: str) -> None:
    """A migration that makes a table says so of it too; see 0008."""
    with psycopg.connect(admin_url) as owner:
        told = owner.execute("""
            SELECT c.relname, a.attname, a.attoptions FROM pg_class AS c
              JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attname IN ('tenant_id', 'agent_id')
             WHERE c.relnamespace = 'mnestic'::regnamespace AND c.relkind = 'r'
               AND EXISTS (SELECT FROM pg_attribute WHERE attrelid = c.oid AND attname = 'agent_id')
        """).fetchall()

    assert len(told) > 20
    assert {tuple(options or ()) for *_, options in told} == {("n_distinct=10",)}, told


def is_of_the_agent_alone(part: dict[str, Any]) -> bool:
    """Whether an index is asked for all rows of an agent, or none is asked."""
    asked = set(re.findall(r"\b(\w+) [=<>]", part.get("Index Cond", "")))
    return "Index" in part["Node Type"] and asked <= {"tenant_id", "agent_id"}
