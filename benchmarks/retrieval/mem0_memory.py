"""mem0 beside retrieval, with the product's embedder and without a model; `make bench-check` installs it into an environment of its own."""

import asyncio
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from mem0 import AsyncMemory

from mnestic.activities.clients.token_vectors import DIMENSIONS, TokenVectorEmbedder


class _Embedder:
    """What mem0 calls for a vector, or for many, from threads of its own."""

    def __init__(self) -> None:
        self._embedder = TokenVectorEmbedder()

    def embed(self, text: str, _action: str | None = None) -> list[float]:
        (vector,) = self.embed_batch([text])
        return vector

    def embed_batch(self, texts: list[str], _action: str | None = None) -> list[list[float]]:
        vectors = asyncio.run(self._embedder.embed(texts)).vectors
        return [np.frombuffer(one, "<f4").tolist() for one in vectors]


class Mem0Memory:
    """Asks and adds through mem0's own client on pgvector, with an HNSW index.

    Without its language models it stores what is added as it is, and searches by meaning alone.
    """

    def __init__(self, memory: Any) -> None:
        self._memory = memory
        self._added: list[str] = []

    @classmethod
    async def connect(cls, url: str) -> Self:
        """Connects; what mem0 says of its history goes to a file that nobody reads."""
        history = Path(tempfile.mkdtemp(prefix="mem0-")) / "history.db"
        memory = AsyncMemory.from_config(
            {
                "vector_store": {
                    "provider": "pgvector",
                    "config": {
                        "connection_string": url,
                        "collection_name": "mem0_entry",
                        "embedding_model_dims": DIMENSIONS,
                        "hnsw": True,
                        "maxconn": 16,
                    },
                },
                "embedder": {"provider": "openai", "config": {"api_key": "none is called"}},
                "llm": {"provider": "openai", "config": {"api_key": "none is called"}},
                "history_db_path": str(history),
            }
        )
        memory.embedding_model = _Embedder()
        return cls(memory)

    async def ask(self, agent: str, question: str) -> None:
        """Reads the ten best entries."""
        found = await self._memory.search(question, top_k=10, filters={"agent_id": agent})
        if not found["results"]:
            raise RuntimeError(f"{agent} has no entries in mem0: {question}")

    ask_before_message = ask

    async def add(self, agent: str, content: str) -> None:
        """Adds an entry, committed when it returns."""
        found = await self._memory.add(content, agent_id=agent, infer=False)
        self._added += [one["id"] for one in found["results"]]

    async def fill(self, agent: str, contents: Sequence[str]) -> None:
        """Adds entries, each by a call."""
        for content in contents:
            await self._memory.add(content, agent_id=agent, infer=False)

    async def remove_added(self, _agent: str) -> None:
        """Removes what this process has added."""
        for one in self._added:
            await self._memory.delete(one)

    def answers_cached(self) -> tuple[int, int]:
        """Nothing is cached here."""
        return 0, 0

    async def close(self) -> None:
        """Closes the connections."""
        self._memory.vector_store.connection_pool.close()
