"""The floor of adding: one table that a Postgres engineer would write by hand, and the same embedder.

It has what a hybrid search by hand needs: the text, metadata, a vector and full text, found by key and by time.
"""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Self

import numpy as np
import psycopg
from pgvector import HalfVector
from pgvector.psycopg import register_vector_async

from mnestic.activities.clients.token_vectors import TokenVectorEmbedder
from mnestic.memory.knowledge.resources import Resource

_TABLE = """
CREATE TABLE IF NOT EXISTS public.item (
    tenant_id text NOT NULL,
    agent_id text NOT NULL,
    id text NOT NULL,
    content text NOT NULL,
    metadata jsonb NOT NULL,
    at timestamptz NOT NULL,
    vector halfvec(256) NOT NULL,
    words tsvector NOT NULL GENERATED ALWAYS AS (to_tsvector('english', content)) STORED,
    PRIMARY KEY (tenant_id, agent_id, id)
);
CREATE INDEX IF NOT EXISTS item_by_time ON public.item (tenant_id, agent_id, at);
CREATE INDEX IF NOT EXISTS item_words ON public.item USING gin (words);
"""
_COLUMNS = "tenant_id, agent_id, id, content, metadata, at, vector"
_INSERT = f"INSERT INTO public.item ({_COLUMNS}) VALUES (%s, %s, %s, %s, %s, %s, %s) ON CONFLICT DO NOTHING"  # noqa: S608
_COPY = f"COPY public.item ({_COLUMNS}) FROM STDIN (FORMAT binary)"
_TYPES = ("text", "text", "text", "text", "jsonb", "timestamptz", "halfvec")
_TENANT = "plain"


class PlainTable:
    """The table, on a connection of its own."""

    def __init__(self, connection: psycopg.AsyncConnection[Any]) -> None:
        self._connection, self._embedder = connection, TokenVectorEmbedder()

    @classmethod
    @asynccontextmanager
    async def open(cls, url: str) -> AsyncIterator[Self]:
        """Makes the table in a database, and connects to it."""
        async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
            await connection.execute(_TABLE)
            await register_vector_async(connection)
            yield cls(connection)

    async def add(self, message: Resource) -> None:
        """Adds an item, by one statement."""
        (row,) = await self._rows([message], agent_id="one")
        await self._connection.execute(_INSERT, row)

    async def add_all(self, messages: Sequence[Resource]) -> None:
        """Adds items, by an INSERT each, sent together in one transaction."""
        rows = await self._rows(messages, agent_id="many")
        async with self._connection.transaction(), self._connection.cursor() as cursor:
            await cursor.executemany(_INSERT, rows)

    async def copy_all(self, messages: Sequence[Resource]) -> None:
        """Adds items, by one COPY."""
        rows = await self._rows(messages, agent_id="copied")
        async with self._connection.cursor().copy(_COPY) as copy:
            copy.set_types(_TYPES)
            for row in rows:
                await copy.write_row(row)

    async def vacuum(self) -> None:
        """Has the whole database vacuumed."""
        await self._connection.execute("VACUUM ANALYZE")

    async def bytes(self) -> int:
        """The size of the table and its indexes."""
        found = await self._connection.execute("SELECT pg_total_relation_size('public.item')")
        row = await found.fetchone()
        assert row is not None
        return int(row[0])

    async def _rows(self, messages: Sequence[Resource], *, agent_id: str) -> list[tuple[Any, ...]]:
        made = await self._embedder.embed([one.content for one in messages])
        vectors = (HalfVector(np.frombuffer(vector, dtype="<f4")) for vector in made.vectors)
        return [
            (
                _TENANT,
                agent_id,
                f"{one.session_id}/{one.source_id}",
                one.content,
                _metadata(one),
                one.at,
                vector,
            )
            for one, vector in zip(messages, vectors, strict=True)
        ]


def _metadata(message: Resource) -> str:
    return json.dumps(
        {"session": message.session_id, "channel": message.channel, "speaker": message.speaker}
    )
