"""A supersession that somebody takes back: the entry counts again, until something later supersedes it."""

from datetime import timedelta

import pytest

from mnestic.memory.errors import NotFoundError, StaleRequestError
from mnestic.starter.client.memory_client import MemoryClient
from tests.activities.learning_models import NOON, Learn

GHENT, PORTO, TURIN = "I live in Ghent.", "I moved to Porto.", "I moved to Turin."


async def tell(ada: MemoryClient, learn: Learn, text: str, *, day: int) -> str:
    """Learns from a message; returns the id of its entry."""
    at = NOON + timedelta(days=day)
    entry = await ada.add(text, speaker="Mara", entry_type="interaction", at=at)
    await learn()
    return entry.id


async def found(ada: MemoryClient) -> set[str]:
    return {one.entry.content for one in (await ada.retrieve("Where does Mara live?")).results}


async def test_an_entry_that_is_reinstated_is_found_and_stays_so(
    ada: MemoryClient, learn: Learn
) -> None:
    entry_id = await tell(ada, learn, GHENT, day=0)
    with pytest.raises(NotFoundError):
        await ada.entries.reinstate("nobody")
    with pytest.raises(StaleRequestError, match="is not superseded"):
        await ada.entries.reinstate(entry_id)
    await tell(ada, learn, PORTO, day=1)
    before = await found(ada)

    entry = await ada.entries.reinstate(entry_id)
    after = await found(ada)
    with pytest.raises(StaleRequestError, match="is not superseded"):
        await ada.entries.reinstate(entry_id)
    await tell(ada, learn, TURIN, day=2)
    await ada.entries.archive(entry_id)
    await ada.entries.restore(entry_id)

    assert (before, after) == ({PORTO}, {GHENT, PORTO})
    assert await found(ada) == {GHENT, TURIN}
    assert entry.reinstated_at is not None
    assert (await ada.entries.get(entry_id)).reinstated_at == entry.reinstated_at
