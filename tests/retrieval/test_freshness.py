"""An entry is found, in every mode, as soon as its write is acknowledged."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import get_args

import pytest

from mnestic.memory.knowledge.claims import make_id
from mnestic.memory.knowledge.resources import Resource
from mnestic.memory.language.terms import terms_of
from mnestic.memory.retrieval.queries import Mode
from mnestic.starter.client.ingestion import start_ingest
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.importers.conversations import bundled_conversation

pytestmark = pytest.mark.acceptance  # eight writers write at once

MODES = get_args(Mode)
WRITERS = 8

RunWorker = Callable[[], AbstractAsyncContextManager[None]]


def texts() -> list[str]:
    """Texts that say something, each something else."""
    turns = [turn for session in bundled_conversation().sessions for turn in session.turns]
    return [turn.text for turn in turns if len(terms_of(turn.text)) >= 6]


async def not_found(memory: MemoryClient, text: str) -> list[str]:
    """The modes in which an entry of this text does not come back."""
    found = {mode: (await memory.retrieve(text, mode=mode)).results for mode in MODES}
    return [mode for mode in MODES if text not in {each.entry.content for each in found[mode]}]


@pytest.mark.parametrize("learning", [False, True], ids=["no worker is up", "a worker learns"])
async def test_what_eight_writers_write_is_found_at_once(
    client: MnesticClient, run_worker: RunWorker, learning: bool
) -> None:
    said = texts()
    missed: list[tuple[str, list[str]]] = []

    async def write(number: int) -> None:
        memory = client.memory("ada")
        for text in said[number::WRITERS]:
            await memory.add(text)
            if modes := await not_found(memory, text):
                missed.append((text, modes))
            if learning:
                await start_ingest(client, agent_id="ada")

    async def write_all() -> None:
        await asyncio.gather(*(write(number) for number in range(WRITERS)))

    if learning:
        async with run_worker():
            await write_all()
    else:
        await write_all()

    assert len(said) >= 64
    assert missed == []


async def test_messages_that_were_heard_are_found_however_many_wait_for_a_vector(
    client: MnesticClient,
) -> None:
    memory = client.memory("ada")
    first, *others = texts()
    more = [f"{text} ({number})" for number in range(6) for text in others]
    heard = [
        Resource(
            session_id="s1",
            source_id=make_id(str(number)),
            channel="chat",
            speaker="Mara",
            content=text,
            at="2025-03-01T09:00:00Z",
        )
        for number, text in enumerate([first, *more])
    ]

    await memory.ingest(heard)

    assert len(heard) > 400
    assert await not_found(memory, first) == []
    assert await not_found(memory, more[-1]) == []


async def test_what_was_changed_is_found_by_what_it_says_now(
    client: MnesticClient, worker: None
) -> None:
    del worker
    memory = client.memory("ada")
    before, after, *others = texts()
    entry_id = (await memory.add(before, source_id="changed")).id
    for text in others[:20]:
        await memory.add(text)
    await (await start_ingest(client, agent_id="ada")).result()

    await memory.entries.change(entry_id, content=after)

    assert await not_found(memory, after) == []
    assert await not_found(memory, before) == list(MODES)


async def test_what_was_removed_is_found_no_more(client: MnesticClient) -> None:
    memory = client.memory("ada")
    said = texts()[:20]
    added = [await memory.add(text) for text in said]

    await memory.entries.remove(added[0].id)

    assert await not_found(memory, said[0]) == list(MODES)
    assert await not_found(memory, said[1]) == []
