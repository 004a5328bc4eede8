"""Conversation histories: exact items in order, whoever appends, and what is said in them as memory."""

import asyncio
from typing import Any

import pytest

from mnestic.memory.errors import IdempotencyConflictError, InvalidInputError
from mnestic.memory.jobs.histories import ItemText
from mnestic.memory.knowledge.entries import EntryQuery
from mnestic.starter.client.ingestion import start_ingest
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.client.mnestic_client import MnesticClient
from tests.transactions import Execute

CALL = {"type": "function_call", "id": "f1", "call_id": "c1", "name": "look", "arguments": "{}"}


def asked(content: str) -> dict[str, Any]:
    return {"role": "user", "content": content}


def said(content: str, *, item: int = 0) -> ItemText:
    return ItemText(item=item, speaker="Mara", channel="chat", content=content)


async def contents(memory: MemoryClient) -> set[str]:
    entries, _ = await memory.entries.list(EntryQuery())
    return {entry.content for entry in entries}


async def test_items_come_back_exactly_and_in_order(ada: MemoryClient) -> None:
    history = ada.history
    image = {"type": "input_image", "image_url": "https://example.org/a.png", "detail": "auto"}
    items = (asked("Who is it?"), {"role": "user", "content": [image]}, CALL)

    await history.append("s1", items[:2])
    await history.append("s1", items[2:])
    await ada.history.append("s2", (asked("Elsewhere."),))

    assert await history.read("s1") == items
    assert await history.read("s1", limit=2) == items[1:]
    assert await history.read("s1", limit=0) == ()


async def test_batches_of_many_writers_stay_whole(client: MnesticClient, ada: MemoryClient) -> None:
    histories = [client.memory("ada").history for _ in range(8)]
    batches = [tuple(asked(f"{writer}, {part}") for part in range(3)) for writer in range(8)]

    await asyncio.gather(
        *(one.append("s1", batch) for one, batch in zip(histories, batches, strict=True))
    )

    stored = await ada.history.read("s1")
    found = [stored[begin : begin + 3] for begin in range(0, len(stored), 3)]
    assert len(found) == len(batches)
    assert all(batch in found for batch in batches)


async def test_a_batch_that_is_sent_again_is_stored_once(ada: MemoryClient) -> None:
    history, batch = ada.history, (asked("Hello"),)

    for _ in range(2):
        await history.append("s1", batch, texts=[said("Hello")], operation_key="k1")

    assert await history.read("s1") == batch
    with pytest.raises(IdempotencyConflictError):
        await history.append("s1", (CALL,), operation_key="k1")


async def test_a_batch_that_cannot_be_stored_leaves_nothing(ada: MemoryClient) -> None:
    history = ada.history

    with pytest.raises(InvalidInputError):
        await history.append(
            "s1", (asked("Hello"), asked("")), texts=[said("Hello"), said("", item=1)]
        )

    assert await history.read("s1") == ()
    assert await contents(ada) == set()


async def test_a_row_that_holds_no_items_hides_none(ada: MemoryClient, execute: Execute) -> None:
    history = ada.history
    for content in ("one", "two", "three"):
        await history.append("s1", (asked(content),))
    execute(
        """UPDATE mnestic.long_term_record SET value = '[1]'
            WHERE tenant_id = %s AND key = '0000000002'"""
    )

    assert await history.read("s1", limit=2) == (asked("one"), asked("three"))
    assert await history.pop("s1") == asked("three")
    assert await history.pop("s1") == asked("one")
    assert await history.pop("s1") is None


@pytest.mark.usefixtures("worker")
async def test_the_last_item_goes_with_what_was_learned_from_it(
    client: MnesticClient, ada: MemoryClient
) -> None:
    history = ada.history
    await history.append("s1", (asked("I live in Porto."),), texts=[said("I live in Porto.")])
    await history.append(
        "s1",
        (asked("I like tea."), asked("I own a bike.")),
        texts=[said("I like tea."), said("I own a bike.", item=1)],
    )
    await (await start_ingest(client, agent_id="ada")).result()

    assert await history.pop("s1") == asked("I own a bike.")
    assert await history.pop("s1") == asked("I like tea.")

    facts, _ = await ada.facts.list()
    assert [(fact.predicate, fact.object) for fact in facts] == [("lives_in", "Porto")]
    assert await contents(ada) == {"I live in Porto."}
    assert await history.read("s1") == (asked("I live in Porto."),)


async def test_a_history_begins_again_after_it_was_cleared(ada: MemoryClient) -> None:
    history = ada.history
    await history.append("s1", (asked("one"),), texts=[said("one")])
    await history.clear("s1")
    await history.append("s1", (asked("two"),))

    assert await history.read("s1") == (asked("two"),)
    assert await contents(ada) == {"one"}


@pytest.mark.usefixtures("worker")
async def test_items_lose_what_is_forgotten_and_keep_their_form(ada: MemoryClient) -> None:
    history = ada.history
    reply = {"type": "message", "role": "assistant", "id": "otilia-1", "content": "Otilia sings."}
    await history.append("s1", (asked("Otilia is a user. I like tea."), reply))
    shown = await ada.preview_forget("Otilia")
    await ada.forget("Otilia", confirm=shown.token, keep_out=True)
    await history.append("s1", (asked("Otilia came. I like rain."),))

    first, second, third = await history.read("s1")
    assert (first["role"], second["id"]) == ("user", "otilia-1")
    assert "I like tea." in first["content"]
    assert "Otilia" not in first["content"] + second["content"]
    assert third == asked("I like rain.")


async def test_histories_are_no_records_that_anybody_lists_or_writes(ada: MemoryClient) -> None:
    await ada.history.append("s1", (CALL,))

    assert (await ada.records.list()) == ((), None)
    with pytest.raises(InvalidInputError, match="Mnestic alone writes"):
        await ada.records.set("~histories/s1", "k", 1)


async def test_an_export_has_histories(client: MnesticClient, ada: MemoryClient) -> None:
    await ada.history.append("s1", (CALL,))

    await client.memory("bea").import_lines([line async for line in ada.export()])

    assert await client.memory("bea").history.read("s1") == (CALL,)
