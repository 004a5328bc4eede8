"""A supersession that somebody takes back: the entry counts again, until something later supersedes it."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

import pytest

from mnestic.activities.clients.english.extractor import EnglishExtractor
from mnestic.activities.clients.token_vectors import TokenVectorEmbedder
from mnestic.activities.knowledge.ingestion import IngestActivities
from mnestic.activities.models.embedders import Embedders
from mnestic.memory.errors import NotFoundError, StaleRequestError
from mnestic.memory.ports import Memory
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.settings import Settings
from tests.activities.learning_models import Steps

Learn = Callable[[str, datetime], Awaitable[str]]
OLD = datetime(2026, 3, 2, 12, tzinfo=UTC)
QUESTION = "Where does Mara live?"
GHENT, PORTO = "I live in Ghent.", "I moved to Porto."


@pytest.fixture
def learn(ada: MemoryClient, memory: Memory, settings: Settings) -> Learn:
    """Learns from a message of Mara; returns the id of its entry."""
    steps = Steps(
        IngestActivities(
            memory, extractor=EnglishExtractor(), embedders=Embedders(TokenVectorEmbedder())
        ),
        settings,
    )

    async def learn(text: str, at: datetime) -> str:
        entry = await ada.add(text, speaker="Mara", entry_type="interaction", at=at)
        await steps.extract()
        await steps.learn()
        return entry.id

    return learn


async def found(ada: MemoryClient) -> set[str]:
    return {one.entry.content for one in (await ada.retrieve(QUESTION)).results}


async def test_an_entry_that_is_reinstated_is_found_and_stays_so(
    ada: MemoryClient, learn: Learn
) -> None:
    entry_id = await learn(GHENT, OLD)
    await learn(PORTO, OLD + timedelta(days=1))
    before = await found(ada)

    entry = await ada.entries.reinstate(entry_id)
    after = await found(ada)
    await learn("I moved to Turin.", OLD + timedelta(days=2))
    await ada.entries.archive(entry_id)
    await ada.entries.restore(entry_id)

    assert (before, after) == ({PORTO}, {GHENT, PORTO})
    assert await found(ada) == {GHENT, "I moved to Turin."}
    assert entry.reinstated_at is not None
    assert (await ada.entries.get(entry_id)).reinstated_at == entry.reinstated_at


async def test_what_comes_later_supersedes_it_again(ada: MemoryClient) -> None:
    wrong = await ada.add("Mara lives in Ghent.", at=OLD)
    await ada.add("No.", entry_type="correction", parent=wrong.id, at=OLD + timedelta(days=1))
    entry = await ada.entries.reinstate(wrong.id)
    after = await found(ada)
    assert entry.reinstated_at is not None

    at = entry.reinstated_at + timedelta(seconds=1)
    await ada.add("It is not.", entry_type="correction", parent=wrong.id, at=at)

    assert wrong.content in after
    await ada.entries.reinstate(wrong.id)  # which it can be, since it is superseded


async def test_only_what_is_superseded_can_be_reinstated(ada: MemoryClient, learn: Learn) -> None:
    entry_id = await learn(GHENT, OLD)

    with pytest.raises(NotFoundError):
        await ada.entries.reinstate("nobody")
    with pytest.raises(StaleRequestError, match="is not superseded"):
        await ada.entries.reinstate(entry_id)
    await learn(PORTO, OLD + timedelta(days=1))
    await ada.entries.reinstate(entry_id)
    with pytest.raises(StaleRequestError, match="is not superseded"):
        await ada.entries.reinstate(entry_id)
