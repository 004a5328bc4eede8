"""Which agents have messages from which nothing was extracted yet."""

from collections.abc import Iterator
from typing import Any

import psycopg
from psycopg.rows import TupleRow

from mnestic.activities.knowledge.receiving import receive
from mnestic.memory.knowledge.resources import Resource
from mnestic.memory.ports import Memory
from mnestic.starter.settings import Settings
from mnestic.stores.postgres.queries import read_query
from tests.stores.conftest import NOON, Begin


def said(number: int) -> Resource:
    return Resource(
        session_id="s1",
        source_id=f"m{number}",
        channel="chat",
        speaker="Mara",
        content="I live in Ghent.",
        at=NOON,
    )


async def test_agents_wait_until_all_that_they_received_is_learned(
    begin: Begin, memory: Memory, settings: Settings
) -> None:
    for agent in ("ada", "Bea", "\U0001f600", "cid"):
        async with begin(agent=agent) as transaction:
            await receive(transaction, [said(1), said(2)], owner=f"t/{agent}")
    for agent, number in (("cid", 2), ("ada", 1)):
        async with begin(agent=agent) as transaction:
            lessons = await transaction.ingest_states.take("received", limit=number)
            await transaction.ingest_states.store_extracted(lessons, extractor="x")

    found = await memory.list_waiting_agents(tenant_id=settings.tenant_id)

    assert set(found) == {"ada", "Bea", "\U0001f600"}
    assert await memory.list_waiting_agents(tenant_id="other") == ()


async def test_messages_that_are_done_are_not_read(
    begin: Begin, owner: psycopg.Connection[TupleRow], settings: Settings
) -> None:
    async with begin() as transaction:
        await receive(transaction, [said(number) for number in range(2000)], owner="t/ada")
        for _ in range(2):
            lessons = await transaction.ingest_states.take("received", limit=1000)
            await transaction.ingest_states.store_extracted(lessons, extractor="x")
    owner.execute("VACUUM ANALYZE mnestic.ingest_state")
    asked, values = read_query("list_waiting_agents").bind({"tenant_id": settings.tenant_id})

    with owner.transaction():
        owner.execute("SELECT set_config('mnestic.tenant_id', %s, true)", [settings.tenant_id])
        owner.execute("SET LOCAL ROLE mnestic_app")
        explained = psycopg.RawCursor(owner).execute(
            "EXPLAIN (ANALYZE, FORMAT JSON) " + asked, values
        )
        ((plan,),) = explained.fetchall()

    assert sum(rows_read(plan[0]["Plan"])) < 20


def rows_read(node: dict[str, Any]) -> Iterator[float]:
    """The rows that each scan of the messages has looked at."""
    if node.get("Relation Name") == "ingest_state":
        looked_at = node["Actual Rows"] + node.get("Rows Removed by Filter", 0)
        yield looked_at * node["Actual Loops"]
    for inner in node.get("Plans", ()):
        yield from rows_read(inner)
