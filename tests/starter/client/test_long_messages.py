"""No words of a long text are looked for on the event loop, which answers others meanwhile."""

import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from types import FrameType
from typing import Any

import pytest

from mnestic.memory.knowledge.resources import Resource
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.client.mnestic_client import MnesticClient

LONG = 60_000
TEXT = "Mara tuned the organ in Lisbon on 4 March 2026 for 315 euros, order AB-1234. " * 800
LANGUAGE = "mnestic.memory.language."
NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)


@contextmanager
def language_calls() -> Iterator[set[str]]:
    """The functions about language that are called with a long text, in the thread of the event loop."""
    found = set[str]()

    def note(frame: FrameType, event: str, _: Any) -> None:
        module = str(frame.f_globals.get("__name__"))
        if event == "call" and module.startswith(LANGUAGE):
            values = frame.f_locals.values()
            if any(isinstance(one, str) and len(one) > LONG for one in values):
                found.add(f"{module}.{frame.f_code.co_name}")

    sys.setprofile(note)
    try:
        yield found
    finally:
        sys.setprofile(None)


async def _add(ada: MemoryClient) -> None:
    await ada.add(TEXT)


async def _ingest(ada: MemoryClient) -> None:
    said = Resource(
        session_id="s", source_id="1", channel="chat", speaker="Mara", content=TEXT, at=NOON
    )
    await ada.ingest([said])


async def _change(ada: MemoryClient) -> None:
    entry = await ada.add("Mara tunes organs.")
    await ada.entries.change(entry.id, content=TEXT)


@pytest.mark.parametrize("write", [_add, _ingest, _change])
async def test_a_long_text_is_described_beside_the_event_loop(
    client: MnesticClient, write: Callable[[MemoryClient], Awaitable[None]]
) -> None:
    with language_calls() as found:
        await write(client.memory("ada"))

    assert found == set()


async def test_long_texts_are_compared_with_a_question_beside_the_event_loop(
    client: MnesticClient,
) -> None:
    ada = client.memory("ada")
    await ada.add(TEXT)

    with language_calls() as found:
        answer = await ada.retrieve("order AB-1234")

    assert len(answer.results) == 1
    assert found == set()
