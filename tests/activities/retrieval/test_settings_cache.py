"""The settings that a retriever caches are bounded."""

from mnestic.activities.clients.token_vectors import TokenVectorEmbedder
from mnestic.activities.clients.tokens import count_tokens
from mnestic.activities.models.embedders import Embedders
from mnestic.activities.retrieval.auto_retrieval import AutoRetriever
from mnestic.activities.retrieval.query_models import QueryModels
from mnestic.memory.ports import Memory
from mnestic.memory.retrieval.caches import LRUCache
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.settings import Settings


async def test_the_settings_of_many_agents_are_cached_within_a_limit(
    memory: Memory, settings: Settings
) -> None:
    cache = LRUCache(2_000)
    auto = AutoRetriever(
        models=QueryModels(Embedders(TokenVectorEmbedder())),
        count_tokens=count_tokens,
        settings_cache=cache,
    )

    for number in range(10):
        agent = MemoryClient(
            memory, tenant_id=settings.tenant_id, agent_id=f"agent-{number}", auto=auto
        )
        await agent.settings.change(obsidian_context_tag="x" * 50)
        await agent.auto_retrieve("Where does Mara live?", "telegram")

    assert 0 < cache.counts().items < 10
    assert cache.counts().bytes <= 2_000
