"""Vectors for entries that lack them, without a worker."""

from mnestic.activities.clients.token_vectors import NAME, TokenVectorEmbedder
from mnestic.memory.knowledge.entries import Embedding
from mnestic.memory.ports import Transaction


async def embed(transaction: Transaction, *, number: int) -> None:
    """Keeps the vectors of so many entries that have none yet, the oldest first."""
    bare = await transaction.entries.list_unembedded(NAME, limit=number)
    vectors = (await TokenVectorEmbedder().embed([one.content for one in bare])).vectors
    embeddings = [
        Embedding(entry_id=one.id, content=one.content, vector=vector)
        for one, vector in zip(bare, vectors, strict=True)
    ]
    await transaction.entries.embed(NAME, embeddings)
