"""Learning from messages, by the workflow that users start."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
from psycopg.rows import TupleRow

from mnestic.memory.knowledge.entries import EntryQuery
from mnestic.memory.knowledge.facts import FactStatus
from mnestic.memory.knowledge.resources import Resource
from mnestic.starter.client.ingestion import receive_conversation, start_ingest
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.importers.conversations import bundled_conversation

pytestmark = pytest.mark.usefixtures("worker")
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
ALL: tuple[FactStatus, ...] = ("active", "archived", "deleted")


def said(number: int, text: str, *, speaker: str = "Mara") -> Resource:
    return Resource(
        session_id="s1",
        source_id=f"m{number}",
        channel="chat",
        speaker=speaker,
        content=text,
        at=NOON + timedelta(days=number),
    )


async def ingest(client: MnesticClient, *messages: Resource) -> int:
    new = await client.memory("ada").ingest(messages)
    await (await start_ingest(client, agent_id="ada")).result()
    return new


async def believed(client: MnesticClient, **query: Any) -> list[tuple[str, str, str, str]]:
    found, _ = await client.memory("ada").facts.list(**query)
    return [(fact.subject, fact.predicate, fact.object, fact.status) for fact in found]


async def test_a_message_becomes_an_entry_a_fact_and_a_vector(
    client: MnesticClient, admin_url: str
) -> None:
    await ingest(client, said(1, "I live in Utrecht."), said(2, "I moved to Ghent yesterday."))

    (later, first), _ = await client.memory("ada").entries.list(EntryQuery())
    found, _ = await client.memory("ada").facts.list(predicate="lives_in", statuses=ALL)
    count = await client.memory("ada").messages.count()
    async with await psycopg.AsyncConnection.connect(admin_url) as connection:
        rows = await (
            await connection.execute(
                "SELECT model, vector_dims(vector) FROM mnestic.embedding WHERE tenant_id = %s",
                [client.settings.tenant_id],
            )
        ).fetchall()
    assert {(fact.object, fact.status) for fact in found} == {
        ("Utrecht", "archived"),
        ("Ghent", "active"),
    }
    assert (first.content, first.speaker, first.channel) == ("I live in Utrecht.", "Mara", "chat")
    assert (first.tags, first.subjects) == (("profile",), ("Mara",))
    assert {fact.id for fact in found if fact.object == "Ghent"} == {
        fact.id for fact in await client.memory("ada").entries.list_facts(later)
    }
    assert 0 < first.importance <= 1
    assert (count.learned, count.waiting, count.parked) == (2, 0, 0)
    assert rows == [("wordllama-256", 256)] * 2


async def test_a_message_is_an_entry_before_it_is_learned_from(client: MnesticClient) -> None:
    await client.memory("ada").ingest([said(1, "I live in Ghent.")])
    (before,), _ = await client.memory("ada").entries.list(EntryQuery())

    await (await start_ingest(client, agent_id="ada")).result()

    (after,), _ = await client.memory("ada").entries.list(EntryQuery())
    assert (before.content, before.subjects, before.tags) == ("I live in Ghent.", ("Mara",), ())
    assert (after.id, after.tags) == (before.id, ("profile",))


async def test_a_message_that_is_sent_again_changes_nothing(client: MnesticClient) -> None:
    await ingest(client, said(1, "I live in Ghent."))
    before = await client.memory("ada").facts.list(statuses=ALL)

    new = await ingest(client, said(1, "I live in Ghent."))

    assert new == 0
    assert await client.memory("ada").facts.list(statuses=ALL) == before
    assert len((await client.memory("ada").entries.list(EntryQuery()))[0]) == 1


async def test_what_comes_while_it_learns_is_learned_as_well(client: MnesticClient) -> None:
    async def send(number: int) -> None:
        await ingest(client, said(number, f"I met somebody for the {number}th time."))

    await asyncio.gather(*(send(number) for number in range(12)))

    count = await client.memory("ada").messages.count()
    assert (count.learned, count.waiting) == (12, 0)
    assert len((await client.memory("ada").entries.list(EntryQuery()))[0]) == 12


async def test_the_bundled_conversation_is_learned_in_any_order_and_tells_what_is_so_now(
    client: MnesticClient,
) -> None:
    conversation = bundled_conversation()
    async for _ in receive_conversation(client, conversation, agent_id="ada", channel="file"):
        pass
    await (await start_ingest(client, agent_id="ada")).result()

    mara = {(predicate, value) for _, predicate, value, _ in await believed(client, subject="Mara")}
    entries, _ = await client.memory("ada").entries.list(EntryQuery(), limit=1000)
    turns = [turn for session in conversation.sessions for turn in session.turns]
    assert len(entries) == len(turns)
    assert ("lives_in", "Deinze") in mara
    assert not {("lives_in", "Ghent"), ("lives_in", "Utrecht")} & mara


async def test_agents_learn_apart(client: MnesticClient) -> None:
    await ingest(client, said(1, "I live in Ghent."))

    assert await client.memory("eve").facts.list() == ((), None)
    assert await client.memory("eve").entries.list(EntryQuery()) == ((), None)


@pytest.fixture
def ledger_of(admin_url: str) -> Callable[[str], list[TupleRow]]:
    """The audit rows of a tenant's learning."""

    def read(tenant: str) -> list[TupleRow]:
        with psycopg.connect(admin_url) as connection:
            return connection.execute(
                "SELECT DISTINCT action FROM mnestic.audit_log WHERE tenant_id = %s AND actor = 'learning'",
                [tenant],
            ).fetchall()

    return read


async def test_learning_leaves_its_trail(
    client: MnesticClient, ledger_of: Callable[[str], list[TupleRow]]
) -> None:
    await ingest(client, said(1, "I live in Ghent."))

    actions = {action for (action,) in ledger_of(client.settings.tenant_id)}
    assert {
        "claim.add",
        "fact.active",
        "entry.change",
        "learning.learned",
    } <= actions
