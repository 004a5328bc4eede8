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


async def test_what_eight_writers_write_is_found_at_once_without_a_worker_and_with_one(
    client: MnesticClient, run_worker: RunWorker
) -> None:
    said = texts()
    missed: list[tuple[str, list[str]]] = []

    async def write(some: list[str], *, learning: bool) -> None:
        memory = client.memory("ada")
        for text in some:
            await memory.add(text)
            if modes := await not_found(memory, text):
                missed.append((text, modes))
            if learning:
                await start_ingest(client, agent_id="ada")

    async def write_all(some: list[str], *, learning: bool) -> None:
        each = (some[number::WRITERS] for number in range(WRITERS))
        await asyncio.gather(*(write(part, learning=learning) for part in each))

    await write_all(said[::2], learning=False)
    async with run_worker():
        await write_all(said[1::2], learning=True)

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


async def test_what_was_changed_is_found_by_what_it_says_now_and_what_was_removed_no_more(
    client: MnesticClient,
) -> None:
    memory = client.memory("ada")
    before, after, gone, *others = texts()[:20]
    changed, removed = (await memory.add(before)).id, (await memory.add(gone)).id
    for text in others:
        await memory.add(text)

    await memory.entries.change(changed, content=after)
    await memory.entries.delete(removed)

    assert await not_found(memory, after) == await not_found(memory, others[0]) == []
    assert await not_found(memory, before) == await not_found(memory, gone) == list(MODES)
