"""Query vectors: out of the cache, or made by an embedder, which may not answer.

It stands apart from reading the question, so that whoever holds a transaction may end it before a model is asked.
"""

from mnestic.activities.retrieval.query_context import ParsedQuery
from mnestic.activities.retrieval.reranking import SKIPPED
from mnestic.memory.ports import Embedder
from mnestic.memory.retrieval.caches import CacheScope, LRUCache

QueryVector = tuple[bytes | None, dict[str, str]]  # a vector, or why there is none


async def embed_query(
    embedder: Embedder, parsed: ParsedQuery, *, cache: LRUCache, scope: CacheScope
) -> QueryVector:
    """The vector of a question, float32; None where its meaning is not asked, or the embedder does not answer, and why not."""
    if parsed.query.mode == "text" or not parsed.ranking_query.weights:
        return None, {}
    if parsed.foreign is not None:
        return parsed.foreign.tobytes(), {}
    key, revision = f"{embedder.name}\0{parsed.text}", parsed.known.knowledge
    if (cached := cache.get(scope, key, revision=revision)) is not None:
        return cached, {}
    try:
        (vector,) = (await embedder.embed([parsed.text])).vectors
    except SKIPPED as error:
        return None, {"semantic": str(error)}
    cache.put(scope, key, vector, revision=revision)
    return vector, {}
