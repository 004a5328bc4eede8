"""What is put before messages that say little: nothing, or what the message before them asks for."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from mnestic.starter.client.memory_client import MemoryClient
from mnestic.stores.notes.folder import FolderVault
from tests.activities.learning_models import said

NOW = datetime(2026, 3, 5, 12, tzinfo=UTC)
CURTAINS, PORTO = "I bought purple curtains for the attic.", "Leila lives in Porto."
LEILA = "Where does Leila live?"


@pytest.fixture
def ada(make: Callable[..., MemoryClient], vault: FolderVault) -> MemoryClient:
    """An agent with a vault of one note."""
    return make(notes=vault)


async def hear(
    ada: MemoryClient, *contents: str, channel: str = "wc", ago: timedelta = timedelta(minutes=9)
) -> None:
    """Says something in a channel, each a second after the one before."""
    await ada.ingest(
        [
            said(
                number,
                content,
                session_id=channel,
                source_id=f"{ago}/{number}",
                channel=channel,
                at=NOW - ago + timedelta(seconds=number),
            )
            for number, content in enumerate(contents)
        ]
    )


async def told(ada: MemoryClient, message: str) -> list[str]:
    found = await ada.auto_retrieve(message, "wc", asked_at=NOW)
    assert found.skipped == ()
    return [memory.content for memory in found.memories]


async def test_a_message_that_says_nothing_finds_no_memories_but_notes(ada: MemoryClient) -> None:
    await hear(ada, "My birthday is on a weekend in May, in the morning.", channel="mail")
    await hear(ada, CURTAINS)

    for message in ("hello", "👍", "", "good morning", "have a nice weekend", "ok, do that"):
        found = await ada.auto_retrieve(message, "wc", asked_at=NOW)

        assert (found.memories, found.skipped) == ((), ()), message
        assert [one.content for one in found.messages] == [CURTAINS]
        assert [note.path for note in found.notes] == ["Mara.md"]


async def test_a_short_message_follows_what_was_asked_right_before_it(ada: MemoryClient) -> None:
    await hear(ada, PORTO, "Her sister Nour lives in Faro.", channel="mail")
    await hear(ada, LEILA, ago=timedelta(days=2))
    long_ago = await told(ada, "and why?")
    await hear(ada, LEILA, "thanks!")

    found = [*await told(ada, "and her sister?"), *await told(ada, "and why?")]

    assert long_ago == []
    assert found.count(PORTO) == 2
    assert LEILA not in found  # which is no memory


async def test_a_command_that_names_nothing_brings_nothing_unless_it_is_wanted(
    ada: MemoryClient,
) -> None:
    await hear(ada, "Start to repeat the exercise at nine, begin slowly.", channel="mail")

    for message in ("start it", "Begin!", "ok, repeat"):
        assert await told(ada, message) == []
        assert (await ada.retrieve(message)).results == ()
        assert (await ada.context_for_query(message)).text == ""
    assert (await ada.retrieve("start", mode="text")).results
    assert (await ada.retrieve("start", min_score=0)).results
