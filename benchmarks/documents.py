"""A collection beside what one writes by hand: documents and their vectors in a table of their own.

Both embed each text by the local model; the floor is the plain statement of pgvector.
"""

from collections.abc import Awaitable, Callable
from typing import Any

import numpy as np
import psycopg

from mnestic.activities.clients.token_vectors import TokenVectorEmbedder
from mnestic.memory.canonical import canonical_json
from mnestic.starter.client.contract_memory import ContractMemory

COLLECTION = "guides"
_STORED, _SIZES, _RESULTS = 1000, 7, 10
_TEXT = "Rule {0}: a page about topic {0} says in its title what it is about, and loads within {1} seconds."
_TABLE = """
    CREATE TABLE document_floor (id text PRIMARY KEY, content text NOT NULL, metadata jsonb NOT NULL, vector halfvec(256) NOT NULL)
"""
_WRITE = """
    INSERT INTO document_floor (id, content, metadata, vector) VALUES (%s, %s, %s, CAST(CAST(%s AS text) AS halfvec))
    ON CONFLICT (id) DO UPDATE SET content = excluded.content, metadata = excluded.metadata, vector = excluded.vector
"""
_SEARCH = """
    SELECT id, content, metadata, 1 - (vector <=> CAST(CAST(%s AS text) AS halfvec)) AS score FROM document_floor
     ORDER BY vector <=> CAST(CAST(%s AS text) AS halfvec) LIMIT 10
"""
Step = Callable[[int], Awaitable[None]]


async def with_documents(
    memory: ContractMemory, connection: psycopg.AsyncConnection[Any]
) -> dict[str, tuple[Step, Step]]:
    """Product and floor of `upsert` and `search`, with documents in both."""
    embedder = TokenVectorEmbedder()

    async def vector_of(text: str) -> str:
        (vector,) = (await embedder.embed([text])).vectors
        return str(np.frombuffer(vector, "<f4").tolist())

    async def upsert(step: int) -> None:
        metadata = {"size": step % _SIZES}
        document = {"id": f"d{step}", "content": _text(step), "metadata": metadata}
        await memory.upsert(COLLECTION, document)

    async def write(step: int) -> None:
        metadata = canonical_json({"size": step % _SIZES}).decode()
        vector = await vector_of(_text(step))
        await connection.execute(_WRITE, [f"d{step}", _text(step), metadata, vector], prepare=True)

    async def search(step: int) -> None:
        assert len(await memory.search(f"the title of topic {step}", COLLECTION)) == _RESULTS

    async def select(step: int) -> None:
        vector = await vector_of(f"the title of topic {step}")
        found = await connection.execute(_SEARCH, [vector, vector], prepare=True)
        assert len(await found.fetchall()) == _RESULTS

    await connection.execute(_TABLE)
    for step in range(_STORED):
        await upsert(step)
        await write(step)
    await connection.execute(
        "VACUUM ANALYZE mnestic.entry, mnestic.embedding, mnestic.document, document_floor"
    )
    return {"upsert": (upsert, write), "search": (search, select)}


def _text(step: int) -> str:
    return _TEXT.format(step, step % _SIZES)
