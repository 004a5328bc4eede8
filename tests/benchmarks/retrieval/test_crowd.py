"""A crowd: agents with a share of what one remembers get different sessions, and their facts with them."""

import psycopg
import pytest

from benchmarks.retrieval.crowd import crowd
from mnestic.memory.knowledge.entries import EntryQuery
from mnestic.starter.client.client_scope import client_caller
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.settings import Settings
from mnestic.stores.postgres.memory import PostgresMemory
from tests.stores.plan_samples import keep

ENTRIES = 160  # in four sessions


@pytest.fixture
async def agents(
    memory: PostgresMemory, settings: Settings, admin_url: str
) -> dict[str, MemoryClient]:
    tenant = settings.tenant_id
    await keep(memory, tenant=tenant, number=ENTRIES)
    async with await psycopg.AsyncConnection.connect(admin_url, autocommit=True) as owner:
        await crowd(owner, tenant=tenant, agent="base", shares={"one": 2, "other": 2, "all": 1})
    return {
        name: MemoryClient(client_caller(memory, tenant_id=tenant, agent_id=name))
        for name in ("base", "one", "other", "all")
    }


async def entry_ids(memory: MemoryClient) -> set[str]:
    entries, _ = await memory.entries.list(EntryQuery(), limit=1000)
    return {entry.id for entry in entries}


async def test_agents_with_the_same_share_get_different_sessions(
    agents: dict[str, MemoryClient],
) -> None:
    ids = {name: await entry_ids(memory) for name, memory in agents.items()}

    assert len(ids["base"]) == ENTRIES
    assert ids["all"] == ids["base"]
    assert len(ids["one"]) == len(ids["other"]) == ENTRIES / 2
    assert ids["one"] | ids["other"] == ids["base"]


async def test_each_fact_goes_with_the_session_of_its_first_claim(
    agents: dict[str, MemoryClient],
) -> None:
    facts = {
        name: {fact.id for fact in (await memory.facts.list(limit=1000))[0]}
        for name, memory in agents.items()
    }

    assert len(facts["base"]) > 20
    assert facts["all"] == facts["base"]
    assert facts["one"]
    assert facts["one"].isdisjoint(facts["other"])
    assert facts["one"] | facts["other"] == facts["base"]
