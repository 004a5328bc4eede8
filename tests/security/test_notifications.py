"""No notification makes an answer stale: no process listens to what anybody who may connect can say."""

import psycopg

from mnestic.starter.client.client_scope import client_caller
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.settings import Settings
from mnestic.stores.postgres.memory import PostgresMemory

QUESTION = "When does the ferry leave?"


async def test_a_process_learns_what_others_changed_and_listens_to_no_notification(
    memory: PostgresMemory, forgetful: PostgresMemory, settings: Settings, admin_url: str
) -> None:
    here, there = (
        MemoryClient(client_caller(each, tenant_id=settings.tenant_id, agent_id="ada"))
        for each in (memory, forgetful)
    )
    ferry = (await here.add("The ferry to Texel leaves at nine.")).id
    for _ in range(3):
        await here.retrieve(QUESTION)
    await there.entries.change(ferry, content="The ferry to Texel leaves at noon.")

    found = await here.retrieve(QUESTION)

    with psycopg.connect(admin_url, autocommit=True) as owner:
        listening = owner.execute(
            "SELECT query FROM pg_stat_activity"
            " WHERE datname = current_database() AND query ILIKE 'listen%'"
        ).fetchall()
    assert [one.entry.content for one in found.results] == ["The ferry to Texel leaves at noon."]
    assert listening == []
