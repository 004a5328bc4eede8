"""The steps of learning, with an extractor that cannot read everything."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from temporalio.testing import ActivityEnvironment

from mnestic.activities.clients.rules.extractor import LocalExtractor
from mnestic.activities.clients.token_vectors import TokenVectorEmbedder
from mnestic.activities.learning import LearningActivities, LearnInput
from mnestic.activities.receiving import receive
from mnestic.memory.entries import Entry, EntryQuery
from mnestic.memory.errors import ModelRefusedError
from mnestic.memory.extraction import Extracted, Turn
from mnestic.memory.ports import Memory
from mnestic.memory.resources import Resource
from mnestic.memory.scope import Scope

Begin = Callable[[], Any]
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


class Choosy(LocalExtractor):
    """Refuses what is in Latin."""

    async def extract(self, turns: Sequence[Turn]) -> tuple[tuple[Extracted, ...], ...]:
        if any("lorem" in turn.content for turn in turns):
            raise ModelRefusedError(model=self.name, why="it is in Latin")
        return await super().extract(turns)


@pytest.fixture
def asked(scope: Scope) -> LearnInput:
    """Whose messages are learned from."""
    return LearnInput(tenant_id=scope.tenant_id, agent_id=scope.agent_id)


@pytest.fixture
def run(memory: Memory, asked: LearnInput) -> Callable[[], Any]:
    """Runs each step once."""
    steps = LearningActivities(memory, extractor=Choosy(), embedder=TokenVectorEmbedder())

    async def run() -> None:
        for step in (steps.extract, steps.learn, steps.embed):
            await ActivityEnvironment().run(step, asked)

    return run


async def keep(begin: Begin, asked: LearnInput, *texts: str) -> None:
    messages = [
        Resource(
            session_id="s1",
            source_id=f"m{number}",
            channel="chat",
            speaker="Mara",
            content=text,
            at=NOON + timedelta(days=number),
        )
        for number, text in enumerate(texts)
    ]
    async with begin() as transaction:
        await receive(transaction, messages, owner=f"{asked.tenant_id}/{asked.agent_id}")


async def entries(begin: Begin) -> tuple[Entry, ...]:
    async with begin() as transaction:
        found, _ = await transaction.entries.list_entries(EntryQuery(), limit=1000)
    return tuple(reversed(found))


async def test_what_cannot_be_read_is_parked_and_found_all_the_same(
    begin: Begin, asked: LearnInput, run: Callable[[], Any]
) -> None:
    await keep(begin, asked, "I live in Ghent.", "lorem ipsum", "Hello there.")

    await run()

    async with begin() as transaction:
        count = await transaction.learning.count()
        (parked,), _ = await transaction.learning.list_by_state("parked")
        left = await transaction.entries.list_unembedded(TokenVectorEmbedder().name, limit=9)
    assert (count.learned, count.parked, count.waiting) == (2, 1, 0)
    assert parked.reason is not None
    assert "it is in Latin" in parked.reason
    assert [one.content for one in await entries(begin)] == [
        "I live in Ghent.",
        "lorem ipsum",
        "Hello there.",
    ]
    assert left == ()


async def test_an_entry_gains_what_its_message_claims_and_keeps_the_rest(
    begin: Begin, asked: LearnInput, run: Callable[[], Any]
) -> None:
    await keep(begin, asked, "My sister Ana lives in Ghent.", "What a day.")
    (told, other) = await entries(begin)
    by_hand = told.model_copy(update={"tags": ("mine",), "critical": True})
    async with begin() as transaction:
        await transaction.entries.change([by_hand])

    await run()

    (after, quiet) = await entries(begin)
    assert set(after.subjects) >= {"Mara", "Ana"}
    assert set(after.tags) >= {"mine", "profile", "relationships"}
    assert after.critical
    assert after.facts
    assert after.importance > told.importance
    assert quiet == other


async def test_an_entry_that_was_removed_stays_away_when_its_message_is_learned(
    begin: Begin, asked: LearnInput, run: Callable[[], Any]
) -> None:
    await keep(begin, asked, "I live in Ghent.", "I work at Tidal Atlas.")
    async with begin() as transaction:
        await transaction.entries.remove([(await entries(begin))[0].id])

    await run()

    assert [one.source_id for one in await entries(begin)] == ["m1"]
