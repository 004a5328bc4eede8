"""Learning from messages, by the workflow that users start."""

import asyncio
from datetime import UTC, datetime, timedelta
from functools import partial

import psycopg
import pytest
from temporalio.service import RPCError

from mnestic.activities.knowledge.receiving import receive
from mnestic.activities.maintenance.steps import MaintenanceActivities, StepResult
from mnestic.memory.knowledge.entries import EntryQuery
from mnestic.memory.knowledge.facts import FactStatus
from mnestic.memory.knowledge.resources import Resource
from mnestic.memory.names import index_workflow_id
from mnestic.memory.ports import Memory
from mnestic.starter.client.ingestion import start_ingest
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.maintenance_wiring import make_maintenance_worker
from mnestic.starter.memory_wiring import token_counter
from mnestic.stores.postgres.retrieval.vector_indexes import index_vectors
from tests.transactions import Begin

pytestmark = pytest.mark.usefixtures("worker")
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
ALL: tuple[FactStatus, ...] = ("active", "archived", "deleted")


def said(number: int, text: str) -> Resource:
    return Resource(
        session_id="s1",
        source_id=f"m{number}",
        channel="chat",
        speaker="Mara",
        content=text,
        at=NOON + timedelta(days=number),
    )


async def ingest(client: MnesticClient, *messages: Resource) -> None:
    await client.memory("ada").ingest(messages)
    await (await start_ingest(client, agent_id="ada")).result()


async def test_a_message_is_an_entry_at_once_and_becomes_facts_and_a_vector_with_a_trail(
    client: MnesticClient, admin_url: str
) -> None:
    ada = client.memory("ada")
    await ada.ingest([said(1, "I live in Utrecht.")])
    (before,), _ = await ada.entries.list(EntryQuery())
    await ingest(client, said(2, "I moved to Ghent yesterday."))

    (later, first), _ = await ada.entries.list(EntryQuery())
    found, _ = await ada.facts.list(predicate="lives_in", statuses=ALL)
    count = await ada.messages.count()
    tenant = [client.settings.tenant_id]
    with psycopg.connect(admin_url) as connection:
        vectors = connection.execute(
            "SELECT model, vector_dims(vector) FROM mnestic.embedding WHERE tenant_id = %s", tenant
        ).fetchall()
        trail = connection.execute(
            "SELECT action FROM mnestic.audit_log WHERE tenant_id = %s AND actor = 'learning'",
            tenant,
        ).fetchall()
    assert (before.content, before.subjects, before.tags) == ("I live in Utrecht.", ("Mara",), ())
    assert (first.id, first.tags, first.subjects) == (before.id, ("profile",), ("Mara",))
    assert (first.content, first.speaker, first.channel) == ("I live in Utrecht.", "Mara", "chat")
    assert {(fact.object, fact.status) for fact in found} == {
        ("Utrecht", "archived"),
        ("Ghent", "active"),
    }
    assert {fact.id for fact in found if fact.object == "Ghent"} == {
        fact.id for fact in await ada.entries.list_facts(later)
    }
    assert 0 < first.importance <= 1
    assert (count.learned, count.waiting, count.parked) == (2, 0, 0)
    assert vectors == [("wordllama-256", 256)] * 2
    actions = {action for (action,) in trail}
    assert actions >= {"claim.add", "fact.active", "entry.change", "learning.learned"}


async def test_what_comes_while_it_learns_is_learned_as_well(client: MnesticClient) -> None:
    async def send(number: int) -> None:
        await ingest(client, said(number, f"I met somebody for the {number}th time."))

    await asyncio.gather(*(send(number) for number in range(12)))

    count = await client.memory("ada").messages.count()
    assert (count.learned, count.waiting) == (12, 0)
    assert len((await client.memory("ada").entries.list(EntryQuery()))[0]) == 12


async def test_a_message_that_is_the_last_takes_one_step_of_each_kind(
    client: MnesticClient, begin: Begin
) -> None:
    async with begin() as transaction:  # and nobody is told
        await receive(transaction, [said(1, "I live in Utrecht.")], owner="t/ada")
    handle = await start_ingest(client, agent_id="ada")
    await handle.result()

    steps = [
        event.activity_task_scheduled_event_attributes.activity_type.name
        async for event in handle.fetch_history_events()
        if event.HasField("activity_task_scheduled_event_attributes")
    ]
    assert sorted(steps) == ["mnestic.embed", "mnestic.extract", "mnestic.learn"]


async def test_an_agent_that_grows_past_the_size_gets_an_index_of_its_vectors_once(
    client: MnesticClient, memory: Memory, admin_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mnestic.stores.postgres.retrieval.embeddings.INDEXED_FROM", 2)

    async def index(tenant_id: str, agent_id: str | None, _: bool) -> tuple[int, int]:
        of_agent = partial(index_vectors, agent_id=agent_id, at_least=2)
        indexed = await asyncio.to_thread(of_agent, admin_url, tenant_id)
        return len(indexed.built), indexed.dropped

    built = client.temporal.get_workflow_handle(
        index_workflow_id(client.settings.tenant_id, "ada"), result_type=StepResult
    )
    steps = MaintenanceActivities(memory, index_vectors=index, count_tokens=token_counter())

    await ingest(client, said(1, "I live in Utrecht."))
    with pytest.raises(RPCError, match="not found"):
        await built.describe()
    await ingest(client, said(2, "I play the cello."))
    async with make_maintenance_worker(client.temporal, client.settings, activities=[steps.index]):
        result = await built.result()
    first = await built.describe()
    await ingest(client, said(3, "I keep bees."))

    assert result.counts == {"indexes_built": 1, "indexes_dropped": 0}
    assert (await built.describe()).run_id == first.run_id
