"""What a question means: its vector, out of the cache or made by an embedder, which may not answer.

It stands apart from reading the question, so that whoever holds a transaction may end it before a model is asked.
"""

from mnestic.activities.asked_questions import ReadQuestion
from mnestic.activities.reranking import SKIPPED
from mnestic.memory.caches import CacheScope, LRUCache
from mnestic.memory.ports import Embedder

Meant = tuple[bytes | None, dict[str, str]]  # a vector, or why there is none


async def embed_question(
    embedder: Embedder, read: ReadQuestion, *, cache: LRUCache, scope: CacheScope
) -> Meant:
    """The vector of a question, float32; None where its meaning is not asked, or the embedder does not answer, and why not."""
    if read.query.mode == "text" or not read.asked.weights:
        return None, {}
    if read.foreign is not None:
        return read.foreign.tobytes(), {}
    key, revision = f"{embedder.name}\0{read.text}", read.known.knowledge
    if (cached := cache.get(scope, key, revision=revision)) is not None:
        return cached, {}
    try:
        (vector,) = (await embedder.embed([read.text])).vectors
    except SKIPPED as error:
        return None, {"semantic": str(error)}
    cache.put(scope, key, vector, revision=revision)
    return vector, {}
