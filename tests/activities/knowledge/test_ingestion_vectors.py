"""Vectors of entries, by models that answer over HTTP, and what those refuse."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from mnestic.activities.clients.token_vectors import TokenVectorEmbedder
from mnestic.activities.knowledge.ingestion import IngestProgress
from mnestic.activities.models.embedders import Embedders
from mnestic.memory.knowledge.entries import EntryQuery
from mnestic.memory.ports import Memory
from mnestic.starter.client.memory_client import MemoryClient
from tests.activities.learning_models import (
    Answer,
    Execute,
    Steps,
    read,
    refused,
    said,
    vectors,
)
from tests.activities.locks import until_held_up


@pytest.fixture
def memory(unembedded: Memory) -> Memory:
    """Entries get their vectors by learning."""
    return unembedded


async def test_a_text_that_cannot_be_embedded_is_parked_and_the_others_go_on(
    chat_server: Any, steps: Callable[..., Steps], ada: MemoryClient, execute: Execute
) -> None:
    def answers(path: str, body: Any) -> Answer:
        if "input" not in body:
            return read(path, body)
        is_awful = any("Awful" in text for text in body["input"])
        return refused(400, "not this") if is_awful else vectors(path, body)

    async def learn() -> IngestProgress:
        await steps().extract()
        await steps().learn()
        return await steps().embed()

    def kept() -> list[str]:
        rows = execute(
            "SELECT vector::text FROM mnestic.embedding WHERE tenant_id = %s "
            "AND model = 'vectors-2' ORDER BY entry_number"
        )
        return [vector for (vector,) in rows]

    chat_server.answers = answers
    await ada.ingest([said(1, "I live in Ghent."), said(2, "I live in Awful."), said(3, "Hm.")])
    await steps(embedders=Embedders(TokenVectorEmbedder())).embed()

    done, again = await learn(), await learn()
    empty, (message,) = kept()[1], (await ada.parked.list())[0]
    known, _ = await ada.facts.list()
    chat_server.answers = lambda path, body: (read if "messages" in body else vectors)(path, body)
    asked_before = len(chat_server.requests)
    await ada.parked.retry([message])
    mended = await learn()

    assert (done.taken, done.parked, again.taken) == (3, 1, 0)
    assert (empty, message.resource.source_id) == ("[0,0]", "m002")
    assert "has no vector: model vectors refused" in (message.reason or "")
    assert {fact.object for fact in known} == {"Awful"}
    assert (mended.taken, mended.parked, "[0,0]" in kept(), len(kept())) == (1, 0, False, 3)
    assert len(chat_server.requests) == asked_before + 1  # for the vector, and for no facts
    assert (await ada.messages.count()).learned == 3
    assert (await ada.stats()).entries.embedded == {"wordllama-256": 3, "vectors-2": 3}
    assert [fact.id for fact in (await ada.facts.list())[0]] == [fact.id for fact in known]


async def test_who_gives_a_vector_up_and_who_learns_wait_for_each_other_in_one_order(
    chat_server: Any,
    steps: Callable[..., Steps],
    ada: MemoryClient,
    begin: Callable[[], Any],
    admin_url: str,
) -> None:
    def answers(path: str, body: Any) -> Answer:
        return read(path, body) if "messages" in body else refused(400, "not this")

    chat_server.answers = answers
    await ada.ingest([said(1, "I live in Ghent.")])
    await steps().extract()
    (entry,), _ = await ada.entries.list(EntryQuery())

    async with asyncio.timeout(60), begin() as learning:
        await learning.ingest_states.take("extracted", limit=1)
        giving_up = asyncio.create_task(steps().embed())
        await until_held_up(admin_url)
        held = await learning.entries.select([entry.id], lock=True)

    assert set(held) == {entry.id}
    assert (await giving_up).parked == 1
