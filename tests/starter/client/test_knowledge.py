"""What an agent believes, from Python."""

from datetime import timedelta

import pytest

from mnestic.activities.knowledge.decisions import decision_time_now
from mnestic.memory.knowledge.claims import Claim, ClaimSource
from mnestic.memory.knowledge.facts import Fact
from mnestic.starter.client.memory_client import MemoryClient
from tests.transactions import Begin


@pytest.fixture
async def ahead(ada: MemoryClient, begin: Begin) -> Fact:
    """A fact out of a message that is dated a year ahead."""
    async with begin() as transaction:
        said = Claim(
            id="c",
            subject="Mara",
            predicate="lives_in",
            object="Ghent",
            said_at=await transaction.now() + timedelta(days=365),
            source=ClaimSource(extractor="rules", session_id="s", source_id="m"),
        )
        await transaction.facts.claim([said])
    (fact,), _ = await ada.facts.list()
    return fact


async def test_what_a_message_dated_ahead_says_can_be_deleted(
    ada: MemoryClient, ahead: Fact
) -> None:
    await ada.facts.delete(ahead.id)

    (fact,), _ = await ada.facts.list(statuses=("active", "archived", "deleted"))
    assert (fact.id, fact.status) == (ahead.id, "deleted")


async def test_a_person_knows_better_than_a_message_dated_ahead(
    ada: MemoryClient, ahead: Fact
) -> None:
    await ada.facts.add("Mara", "lives_in", "Bruges")

    (fact,), _ = await ada.facts.list()
    assert (fact.object, fact.supersedes) == ("Bruges", ahead.id)


async def test_who_began_before_somebody_else_decided_decides_after_them(
    ada: MemoryClient, begin: Begin
) -> None:
    async with begin() as slow:
        began = await slow.now()
        await ada.facts.add("Mara", "lives_in", "Ghent")
        now, said_at = await decision_time_now(slow, "Mara", "lives_in")

    (fact,), _ = await ada.facts.list()
    assert began < fact.valid_from < now == said_at
