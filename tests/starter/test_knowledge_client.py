"""What an agent believes, from Python."""

from datetime import timedelta

import pytest

from mnestic.memory.claims import Claim, ClaimSource
from mnestic.memory.facts import Fact
from mnestic.memory.ports import Memory
from mnestic.starter.client import MnesticClient
from mnestic.starter.memory_client import MemoryClient


@pytest.fixture
def ada(client: MnesticClient) -> MemoryClient:
    """The memory of one agent."""
    return client.memory("ada")


@pytest.fixture
async def ahead(client: MnesticClient, memory: Memory, ada: MemoryClient) -> Fact:
    """A fact out of a message that is dated a year ahead."""
    asked = {"tenant_id": client.settings.tenant_id, "agent_id": "ada", "actor": "test"}
    async with memory.transaction(**asked, write=True) as transaction:
        said = Claim(
            id="c",
            subject="Mara",
            predicate="lives_in",
            object="Ghent",
            said_at=await transaction.now() + timedelta(days=365),
            source=ClaimSource(extractor="rules", session_id="s", source_id="m"),
        )
        await transaction.facts.claim([said])
    (fact,), _ = await ada.list_facts()
    return fact


async def test_what_a_message_dated_ahead_says_can_be_deleted(
    ada: MemoryClient, ahead: Fact
) -> None:
    await ada.delete_fact(ahead.id)

    (fact,), _ = await ada.list_facts(statuses=("active", "archived", "deleted"))
    assert (fact.id, fact.status) == (ahead.id, "deleted")


async def test_a_person_knows_better_than_a_message_dated_ahead(
    ada: MemoryClient, ahead: Fact
) -> None:
    await ada.add_fact("Mara", "lives_in", "Bruges")

    (fact,), _ = await ada.list_facts()
    assert (fact.object, fact.supersedes) == ("Bruges", ahead.id)
