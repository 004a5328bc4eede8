"""Which agents have messages from which nothing was extracted yet."""

import psycopg

from mnestic.activities.knowledge.receiving import receive
from mnestic.memory.knowledge.resources import Resource
from mnestic.memory.ports import Memory
from mnestic.starter.settings import Settings
from mnestic.stores.postgres.memory import PostgresMemory
from tests.stores.conftest import NOON, Begin

# Index entries and rows that scans of messages' states have read in this transaction.
_READ = """
SELECT sum(pg_stat_get_xact_tuples_returned(indexrelid)) + min(pg_stat_get_xact_tuples_returned(indrelid))
  FROM pg_index WHERE indrelid = 'mnestic.ingest_state'::regclass
"""


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
            messages = await transaction.ingest_states.take("received", limit=number)
            await transaction.ingest_states.store_extracted(messages, extractor="x")

    found = await memory.list_waiting_agents(tenants=[settings.tenant_id])

    assert {agent for _, agent in found} == {"ada", "Bea", "\U0001f600"}


async def test_agents_of_every_tenant_are_found_and_tenants_take_turns(
    begin: Begin, memory: Memory, settings: Settings
) -> None:
    busy, quiet = settings.tenant_id, f"{settings.tenant_id}-2"
    for tenant, agent in ((busy, "a1"), (busy, "a2"), (busy, "a3"), (quiet, "b1"), (quiet, "b2")):
        async with begin(tenant=tenant, agent=agent) as transaction:
            await receive(transaction, [said(1)], owner=f"t/{agent}")

    found = [one for one in await memory.list_waiting_agents(tenants=()) if one[0] in {busy, quiet}]
    of_one = await memory.list_waiting_agents(tenants=[quiet])

    assert [agent for _, agent in found] == ["a1", "b1", "a2", "b2", "a3"]
    assert of_one == ((quiet, "b1"), (quiet, "b2"))


async def test_messages_that_are_done_are_not_read(own_url: str) -> None:
    memory = PostgresMemory(own_url, pool_size=1)
    async with memory.transaction(
        tenant_id="t", agent_id="ada", actor="test", write=True
    ) as transaction:
        await receive(transaction, [said(number) for number in range(1000)], owner="t/ada")
        for _ in range(2):
            messages = await transaction.ingest_states.take("received", limit=500)
            await transaction.ingest_states.store_extracted(messages, extractor="x")
    await memory.close()

    # Nobody else may read old versions of rows, and no other tenant's messages change how these are searched.
    with psycopg.connect(own_url, autocommit=True) as owner:
        owner.execute("VACUUM (ANALYZE, INDEX_CLEANUP ON) mnestic.ingest_state")
        with owner.transaction():
            owner.execute("SET LOCAL ROLE mnestic_app")
            owner.execute("SET LOCAL mnestic.tenant_id = ''")
            waiting = owner.execute("SELECT * FROM mnestic.waiting_agents('{t}')").fetchall()
            ((read,),) = owner.execute(_READ).fetchall()

    assert waiting == []
    assert read == 0  # the index has none of them
