"""Statements that are prepared: one of each, whatever the values are."""

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import product
from typing import Any

import pytest
from psycopg import AsyncConnection

from mnestic.starter.client.client_scope import client_caller
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.settings import Settings
from mnestic.stores.postgres.connections import Query, run_together
from mnestic.stores.postgres.memory import PostgresMemory

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
SUBJECTS = (
    "Mara",
    "Elin's sister",
    "Marra",
    "what nobody knows about the spare key of the harbour",
)
TIMES = ("", " last week", " in 2024")
FIELDS: tuple[dict[str, Any], ...] = (
    {},
    {"mode": "text"},
    {"mode": "semantic"},
    {"session_id": "s1"},
    {"tags": ["home"], "limit": 3},
    {"since": NOON, "until": NOON.replace(year=2027)},
    {"as_of": NOON, "subject": "Mara"},
    {"statuses": ["archived"], "categories": ["profile"]},
)


async def test_each_statement_of_a_search_is_prepared_once(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, application_url: str
) -> None:
    memory = PostgresMemory(application_url, pool_size=1, cache_bytes=0)
    ada = MemoryClient(client_caller(memory, tenant_id=settings.tenant_id, agent_id="ada"))
    for number in range(12):
        await ada.add(f"Mara keeps the spare key {number} under the fern.", subjects=["Mara"])
    await ada.facts.add("Mara", "lives_in", "Ghent")
    prepared: list[Any] = []

    async def noted(
        connection: AsyncConnection[Any], queries: Sequence[Query], *, opening: Sequence[Query] = ()
    ) -> list[list[Any]]:
        rows = await run_together(connection, queries, opening=opening)
        cursor = await connection.execute("SELECT statement FROM pg_prepared_statements")
        prepared[:] = await cursor.fetchall()
        return rows

    monkeypatch.setattr("mnestic.stores.postgres.unit_of_work.run_together", noted)
    for subject, time, fields in product(SUBJECTS, TIMES, FIELDS):
        await ada.retrieve(f"Where is {subject}{time}?", asked_at=NOON, is_access=False, **fields)
    await memory.close()

    variants = Counter(prepared)
    assert len(variants) > 5
    assert set(variants.values()) == {1}
