"""What memory says again and again is told once before a message, and takes no other memory's place."""

from datetime import UTC, datetime, timedelta

import pytest

from mnestic.starter.client import MnesticClient
from mnestic.starter.memory_client import MemoryClient

NOW = datetime(2026, 3, 5, 12, tzinfo=UTC)
QUESTION = "Where does Mara keep the spare key?"
SAME = "Mara keeps the spare key behind the ladder."
OTHER = "Mara keeps another spare key at the bakery."


@pytest.fixture
async def ada(client: MnesticClient) -> MemoryClient:
    """An agent whose memory holds the other one beside any number of the same."""
    ada = client.memory("ada")
    await ada.add(OTHER, subjects=["Mara"], at=NOW - timedelta(days=300))
    return ada


async def repeat(ada: MemoryClient, times: int) -> None:
    """Adds what is the same to the words, and written in several ways."""
    ways = (SAME, SAME.upper(), SAME.replace(" ", "  "), SAME.rstrip("."))
    for number in range(times):
        await ada.add(
            ways[number % len(ways)],
            subjects=["Mara"],
            session_id=f"s{number}",
            at=NOW - timedelta(days=1),
        )


@pytest.mark.parametrize("times", [8, 25])
async def test_what_is_said_again_takes_no_other_memorys_place(
    ada: MemoryClient, times: int
) -> None:
    await repeat(ada, times)

    found = await ada.retrieve(QUESTION, limit=100, min_score=0.5, asked_at=NOW, repeats=True)
    told = await ada.auto_retrieve(QUESTION, "chat", asked_at=NOW)

    assert len(found.found) == times + 1
    assert len(told.memories) == 2
    assert OTHER in [memory.content for memory in told.memories]
    assert len(told.text.splitlines()) == 5
    assert all(one.why.startswith("duplicate of ") for one in told.dropped)
    assert len(told.dropped) == times - 1


async def test_no_more_is_told_than_the_limit_says(ada: MemoryClient) -> None:
    await repeat(ada, 12)
    await ada.add("Mara keeps the spare key of the boat.", subjects=["Mara"], at=NOW)

    one = await ada.auto_retrieve(QUESTION, "chat", asked_at=NOW, limit=1)
    two = await ada.auto_retrieve(QUESTION, "chat", asked_at=NOW, limit=2)
    all_of_them = await ada.auto_retrieve(QUESTION, "chat", asked_at=NOW, limit=5)

    assert [len(told.memories) for told in (one, two, all_of_them)] == [1, 2, 3]
