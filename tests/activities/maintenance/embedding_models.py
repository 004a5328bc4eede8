"""Models of embeddings that a test chooses beside the local one."""

from collections.abc import Sequence

import numpy as np

from mnestic.activities.clients.token_vectors import TokenVectorEmbedder
from mnestic.activities.models.embedders import Embedders
from mnestic.memory.models.messages import Embeddings
from mnestic.memory.ports import Embedder


class NarrowEmbedder:
    """A model of other vectors: half of the local one's dimensions."""

    name = "narrow-128"
    model: str | None = None
    batch = 5

    def __init__(self) -> None:
        self.texts: list[str] = []

    async def embed(self, texts: Sequence[str]) -> Embeddings:
        self.texts += texts
        made = await TokenVectorEmbedder().embed(texts)
        return made.model_copy(update={"vectors": tuple(map(self.narrowed, made.vectors))})

    def narrowed(self, vector: bytes) -> bytes:
        half = np.frombuffer(vector, "<f4")[:128]
        return np.asarray(half / max(float(np.linalg.norm(half)), 1e-9), "<f4").tobytes()


class BlindEmbedder(NarrowEmbedder):
    """A model by which no text is like another."""

    def narrowed(self, vector: bytes) -> bytes:
        seed = int.from_bytes(vector[:7], "little")
        random = np.random.default_rng(seed).normal(size=128)
        return np.asarray(random / np.linalg.norm(random), "<f4").tobytes()


def embedders_of(chosen: Embedder) -> Embedders:
    others = {one.name: one for one in (TokenVectorEmbedder(), NarrowEmbedder())}
    return Embedders(chosen, find_other=others.get)
