"""What memory says again and again is told once before a message, and takes no other memory's place."""

from datetime import UTC, datetime, timedelta

from mnestic.memory.knowledge.claims import Claim, ClaimSource
from mnestic.memory.knowledge.resources import Resource
from mnestic.starter.client.memory_client import MemoryClient
from tests.activities.learning_models import Begin, said

NOW = datetime(2026, 3, 5, 12, tzinfo=UTC)
QUESTION = "Where does Mara keep the spare key?"
SAME = "Mara keeps the spare key behind the ladder."
OTHER = "Mara keeps another spare key at the bakery."


async def repeat(ada: MemoryClient, times: int) -> None:
    """Adds the other one, and what is the same to the words, and written in several ways."""
    await ada.add(OTHER, subjects=["Mara"], at=NOW - timedelta(days=300))
    ways = (SAME, SAME.upper(), SAME.replace(" ", "  "), SAME.rstrip("."))
    for number in range(times):
        await ada.add(
            ways[number % len(ways)],
            subjects=["Mara"],
            session_id=f"s{number}",
            at=NOW - timedelta(days=1),
        )


async def test_what_is_said_again_takes_no_other_memorys_place(ada: MemoryClient) -> None:
    times = 25
    await repeat(ada, times)

    found = await ada.retrieve(QUESTION, limit=100, min_score=0.5, asked_at=NOW, repeats=True)
    told = await ada.auto_retrieve(QUESTION, "chat", asked_at=NOW)

    assert len(found.results) == times + 1
    assert len(told.memories) == 2
    assert OTHER in [memory.content for memory in told.memories]
    assert len(told.text.splitlines()) == 5
    assert all(one.why.startswith("duplicate of ") for one in told.dropped)
    assert len(told.dropped) == times - 1


async def test_what_is_said_again_behind_much_that_is_over_is_told_once(
    ada: MemoryClient, begin: Begin
) -> None:
    moved = [
        said(day, f"I live in {home}.", session_id=f"s{n}", source_id=home, speaker=f"Person{n}")
        for n in range(38)
        for day, home in enumerate(("Deinze", "Ghent"))
    ]
    await ada.ingest(moved)
    async with begin() as transaction:
        await transaction.facts.claim([lives_in(one) for one in moved])
    for number in range(3):
        content = "In Deinze they say that people live well."
        await ada.add(content, session_id=f"again{number}", subjects=["Deinze"], at=NOW)
    other = "It is said that in Deinze, of all places by the river, people live for long."
    await ada.add(other, at=NOW)

    found = await ada.retrieve("live in Deinze", limit=2, asked_at=NOW)

    assert {one.entry.content for one in found.results} == {content, other}


def lives_in(message: Resource) -> Claim:
    """What somebody says of their home."""
    place = {"session_id": message.session_id, "source_id": message.source_id}
    return Claim(
        id=f"{message.session_id}/{message.source_id}",
        subject=message.speaker,
        predicate="lives_in",
        object=message.source_id,
        said_at=message.at,
        source=ClaimSource(extractor="test", **place),
    )
