"""What is about a topic by its meaning, for it to be forgotten."""

from mnestic.activities.callers import Caller
from mnestic.activities.clients.token_vectors import TokenVectorEmbedder
from mnestic.activities.forgetting.topic_meaning import find_entries_by_meaning
from mnestic.activities.models.embedders import Embedders
from mnestic.memory.ports import Memory
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.settings import Settings


async def test_an_entry_that_has_no_vector_yet_is_not_missed(
    unembedded: Memory, settings: Settings
) -> None:
    embedders = Embedders(TokenVectorEmbedder())
    caller = Caller(memory=unembedded, tenant_id=settings.tenant_id, agent_id="ada", actor="test")
    ada = MemoryClient(unembedded, tenant_id=settings.tenant_id, agent_id="ada")
    await ada.add("The physician prescribed rest.")
    await ada.add("The ferry leaves at noon.")
    async with caller() as transaction:
        assert len(await transaction.entries.list_unembedded(embedders.chosen.name, limit=10)) == 2

    found = await find_entries_by_meaning(caller, "doctors", embedders=embedders)

    assert [one.text for one in found.close] == ["The physician prescribed rest."]
    async with caller() as transaction:
        assert await transaction.entries.list_unembedded(embedders.chosen.name, limit=10) == ()
