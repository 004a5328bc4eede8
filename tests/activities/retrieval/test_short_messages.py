"""What is put before messages that say little: nothing, or what the message before them asks for."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from mnestic.activities.clients.token_vectors import TokenVectorEmbedder
from mnestic.activities.clients.tokens import count_tokens
from mnestic.activities.models.embedders import Embedders
from mnestic.activities.retrieval.auto_retrieval import AutoRetriever
from mnestic.activities.retrieval.query_models import QueryModels
from mnestic.memory.knowledge.resources import Resource
from mnestic.memory.ports import Memory
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.settings import Settings
from mnestic.stores.notes.folder import FolderVault

NOW = datetime(2026, 3, 5, 12, tzinfo=UTC)
CURTAINS = "I bought purple curtains for the attic."
LEILA = "Where does Leila live?"


@pytest.fixture
def ada(memory: Memory, settings: Settings, tmp_path: Path) -> MemoryClient:
    """An agent with a vault of one note."""
    (tmp_path / "Profile.md").write_text("Ada likes tea. #mnestic", encoding="utf-8")
    auto = AutoRetriever(
        models=QueryModels(Embedders(TokenVectorEmbedder())),
        count_tokens=count_tokens,
        notes=FolderVault(tmp_path),
        notes_tenant_id=settings.tenant_id,
    )
    return MemoryClient(memory, tenant_id=settings.tenant_id, agent_id="ada", auto=auto)


async def hear(
    ada: MemoryClient, *contents: str, channel: str = "wc", ago: timedelta = timedelta(minutes=9)
) -> None:
    """Says something in a channel, each a second after the one before."""
    await ada.ingest(
        [
            Resource(
                session_id=channel,
                source_id=f"{ago}/{number}",
                channel=channel,
                speaker="User",
                content=content,
                at=NOW - ago + timedelta(seconds=number),
            )
            for number, content in enumerate(contents)
        ]
    )


async def told(ada: MemoryClient, message: str) -> list[str]:
    found = await ada.auto_retrieve(message, "wc", asked_at=NOW)
    assert found.skipped == ()
    return [memory.content for memory in found.memories]


@pytest.mark.parametrize(
    "message",
    [
        *("hello", "ok", "thanks!", "👍", "❤️", "", "   ", "good morning", "good night", "yes"),
        *("have a nice weekend", "happy birthday!", "ok, do that", "yes please, do that"),
    ],
)
async def test_a_message_that_says_nothing_finds_no_memories_but_notes(
    ada: MemoryClient, message: str
) -> None:
    await hear(ada, "My birthday is on a weekend in May, in the morning.", channel="mail")
    await hear(ada, CURTAINS)

    found = await ada.auto_retrieve(message, "wc", asked_at=NOW)

    assert (found.memories, found.skipped) == ((), ())
    assert [one.content for one in found.messages] == [CURTAINS]
    assert [note.path for note in found.notes] == ["Profile.md"]


async def test_the_message_that_a_short_one_follows_is_no_memory(ada: MemoryClient) -> None:
    await hear(ada, "Leila lives in Porto.", "Her sister Nour lives in Faro.", channel="mail")
    await hear(ada, LEILA)

    found = await told(ada, "and her sister?")
    why = await told(ada, "why?")

    assert "Leila lives in Porto." in found
    assert "Leila lives in Porto." in why
    assert LEILA not in (*found, *why)


async def test_a_short_message_after_a_courtesy_follows_what_was_asked(ada: MemoryClient) -> None:
    await hear(ada, "Leila lives in Porto.", channel="mail")
    await hear(ada, LEILA, "thanks!")

    assert await told(ada, "and why?") == ["Leila lives in Porto."]


async def test_a_short_message_does_not_follow_what_was_said_days_ago(ada: MemoryClient) -> None:
    await hear(ada, "Leila lives in Porto.", channel="mail")
    await hear(ada, LEILA, ago=timedelta(days=2))

    assert await told(ada, "and why?") == []


async def test_a_word_alone_is_looked_for_where_nothing_was_said_before(ada: MemoryClient) -> None:
    await hear(ada, CURTAINS, channel="mail")

    assert await told(ada, "curtains?") == [CURTAINS]


@pytest.mark.parametrize("message", ["start it", "Begin!", "ok, repeat", "keep going", "nochmal"])
async def test_a_command_that_names_nothing_brings_nothing(ada: MemoryClient, message: str) -> None:
    repeated = "Start to repeat the exercise at nine, begin slowly, and keep going."
    await hear(ada, repeated, "Wir fangen nochmal von vorn an.", channel="mail")

    assert await told(ada, message) == []
    assert (await ada.retrieve(message)).results == ()
    assert (await ada.context_for_query(message)).text == ""


async def test_words_of_a_command_are_searched_for_on_request(ada: MemoryClient) -> None:
    await hear(ada, "Start the exercise at nine.", "Porto is far.", channel="mail")

    by_words = await ada.retrieve("start", mode="text")
    by_any_score = await ada.retrieve("start", min_score=0)

    for found in (by_words, by_any_score):
        assert found.results[0].entry.content == "Start the exercise at nine."
    assert await told(ada, "Porto") == ["Porto is far."]


@pytest.mark.parametrize(
    ("message", "about"),
    [
        ("Morning standup.", "standup"),
        ("hey lifejackets", "lifejackets"),
        ("Happy birthday cake", "cake"),
    ],
)
async def test_what_begins_like_a_greeting_is_looked_for(
    ada: MemoryClient, message: str, about: str
) -> None:
    await hear(
        ada,
        "The morning standup is at nine.",
        "The lifejackets are under the bench.",
        "The birthday cake has to be ordered by Friday.",
        channel="mail",
    )

    found = await told(ada, message)

    assert about in found[0]
