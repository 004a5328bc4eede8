"""LangGraph's store beside retrieval, with the product's embedder; `make bench-check` installs it into an environment of its own."""

from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import Any, Self

import numpy as np
from langgraph.store.postgres.aio import AsyncPostgresStore

from mnestic.activities.clients.token_vectors import DIMENSIONS, TokenVectorEmbedder

_AT_ONCE = 500  # puts sent together


class LangGraphStore:
    """Asks and adds through `AsyncPostgresStore`, which searches by meaning alone."""

    def __init__(self, store: Any, opened: AsyncExitStack) -> None:
        self._store, self._opened = store, opened
        self._added: list[str] = []

    @classmethod
    async def connect(cls, url: str) -> Self:
        """Connects, and makes its tables where they are missing."""
        embedder = TokenVectorEmbedder()

        async def embed(texts: Sequence[str]) -> list[list[float]]:
            vectors = (await embedder.embed(list(texts))).vectors
            return [np.frombuffer(one, "<f4").tolist() for one in vectors]

        opened = AsyncExitStack()
        store = await opened.enter_async_context(
            AsyncPostgresStore.from_conn_string(
                url,
                pool_config={"min_size": 1, "max_size": 16},
                index={
                    "dims": DIMENSIONS,
                    "embed": embed,
                    "fields": ["content"],
                    "distance_type": "inner_product",
                    "ann_index_config": {"kind": "hnsw", "vector_type": "halfvec"},
                },
            )
        )
        await store.setup()
        return cls(store, opened)

    async def ask(self, agent: str, question: str) -> None:
        """Reads the ten best entries."""
        if not await self._store.asearch((agent,), query=question, limit=10):
            raise RuntimeError(f"{agent} has no entries in LangGraph's store")

    ask_before_message = ask

    async def add(self, agent: str, content: str) -> None:
        """Adds an entry, committed when it returns."""
        key = f"added-{len(self._added)}"
        await self._store.aput((agent,), key, {"content": content})
        self._added.append(key)

    async def fill(self, agent: str, contents: Sequence[str]) -> None:
        """Adds entries, many at once."""
        from langgraph.store.base import PutOp  # noqa: PLC0415 - who asks does not need it

        for first in range(0, len(contents), _AT_ONCE):
            some = enumerate(contents[first : first + _AT_ONCE], first)
            await self._store.abatch([PutOp((agent,), str(n), {"content": one}) for n, one in some])

    async def remove_added(self, agent: str) -> None:
        """Removes what this process has added."""
        for key in self._added:
            await self._store.adelete((agent,), key)

    def answers_cached(self) -> tuple[int, int]:
        """Nothing is cached here."""
        return 0, 0

    async def close(self) -> None:
        """Closes the connections."""
        await self._opened.aclose()
