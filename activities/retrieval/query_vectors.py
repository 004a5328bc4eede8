"""Query vectors: out of the cache, or made by an embedder, which may not answer.

Whoever holds a transaction may end it before a model is asked.
"""

from dataclasses import replace

from mnestic.activities.retrieval.reranking import SKIPPED
from mnestic.memory.ports import Embedder
from mnestic.memory.retrieval.caches import CacheScope, LRUCache
from mnestic.memory.retrieval.search import ParsedQuery


async def embed_query(
    embedder: Embedder, parsed: ParsedQuery, *, cache: LRUCache, scope: CacheScope
) -> tuple[ParsedQuery, dict[str, str]]:
    """A query with its vector; without one where its meaning is not asked, or the embedder does not answer, and why not."""
    if parsed.mode == "text" or not parsed.weights:
        return parsed, {}
    if parsed.foreign is not None:
        return replace(parsed, vector=parsed.foreign.tobytes()), {}
    key, revision = f"{embedder.name}\0{parsed.text}", parsed.known.knowledge
    vector = cache.get(scope, key, revision=revision)
    if vector is None:
        try:
            (vector,) = (await embedder.embed([parsed.text])).vectors
        except SKIPPED as error:
            return parsed, {"semantic": str(error)}
        cache.put(scope, key, vector, revision=revision)
    return replace(parsed, vector=vector), {}
