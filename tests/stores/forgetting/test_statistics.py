"""The planner's statistics of tables in which something was forgotten, which quote no row that is gone."""

from typing import Any

import psycopg
import pytest

from mnestic.memory.errors import DatabaseUnavailableError
from mnestic.stores.postgres.memory import PostgresMemory
from tests.word_scan import scan_statistics

OWNER = {"tenant_id": "t1", "agent_id": "ada"}
WORD = "quixotling"


def run(url: str, *statements: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)  # type: ignore[arg-type]


async def renew(url: str, table: str, *, forgetting_id: str = "f1") -> Any:
    memory = PostgresMemory(url.replace("postgres@", "mnestic_app@"))
    try:
        async with memory.transaction(**OWNER, actor="test", write=True) as transaction:
            if await transaction.forgetting.find("f1") is None:
                await transaction.forgetting.begin("f1", "Paris", entries=())
        async with memory.transaction(**OWNER, actor="test", write=True) as transaction:
            return await transaction.forgetting.renew_statistics(forgetting_id, table)
    finally:
        await memory.close()


def remember(url: str, *contents: str) -> None:
    """Rows in a table, and what an ANALYZE makes of them."""
    with psycopg.connect(url, autocommit=True) as connection:
        for number, content in enumerate(contents):
            connection.execute(
                "INSERT INTO mnestic.episode (id, tenant_id, agent_id, summary, payload, created_at)"
                " VALUES (%s, 't1', 'ada', %s, '{}', now())",
                [str(number), content],
            )
        connection.execute("ANALYZE mnestic.episode")


@pytest.mark.parametrize("others", [(), ("It rains.", "It rains.")])
async def test_statistics_are_of_what_is_left_also_where_nothing_is(
    own_url: str, others: tuple[str, ...]
) -> None:
    remember(own_url, *others, *(f"The codename Quixotling {n} is due." for n in range(3)))
    assert scan_statistics(own_url, WORD) == {"episode"}
    run(own_url, "DELETE FROM mnestic.episode WHERE summary LIKE '%Quixotling%'")
    run(own_url, "ANALYZE mnestic.episode")
    assert scan_statistics(own_url, WORD) == ({"episode"} if not others else set())

    assert await renew(own_url, "episode")
    assert await renew(own_url, "episode")

    assert scan_statistics(own_url, WORD) == set()


async def test_what_may_not_be_analysed_is_said_to_be_stale(own_url: str) -> None:
    remember(own_url, "Quixotling", "Quixotling")
    run(
        own_url,
        "GRANT CREATE ON SCHEMA mnestic TO mnestic_app",
        "ALTER FUNCTION mnestic.renew_statistics OWNER TO mnestic_app",
    )

    assert not await renew(own_url, "episode")


async def test_statistics_are_renewed_for_a_forgetting_alone(own_url: str) -> None:
    with pytest.raises(Exception, match="there was no forgetting f2"):
        await renew(own_url, "episode", forgetting_id="f2")


async def test_who_builds_an_index_is_waited_for_by_trying_again(own_url: str) -> None:
    with psycopg.connect(own_url) as builder:
        builder.execute("LOCK TABLE mnestic.episode IN SHARE UPDATE EXCLUSIVE MODE")

        with pytest.raises(DatabaseUnavailableError, match="lock timeout"):
            await renew(own_url, "episode")
    assert await renew(own_url, "episode")
