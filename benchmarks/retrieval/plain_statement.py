"""The floor of retrieval: what a Postgres engineer would write by hand, with psycopg and nothing of ours.

One table, partitioned by agent, holds entries with their words and vectors; one statement takes the nearest hundred by
full text and by vectors, fuses them by reciprocal ranks and reads the ten best. Only the embedder is the product's.
What the product does can make it neither better nor worse.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, LiteralString, Self

import numpy as np
import psycopg
from psycopg import sql

INDEXED_FROM = 5000  # entries, as in the product; the scan of fewer vectors is as fast, and exact
# An agent that is large, or that matters, gets a partition of its own; the others share one.
_TABLE: tuple[LiteralString, ...] = (
    "CREATE SCHEMA plain",
    """
    CREATE TABLE plain.entry (
        id bigint GENERATED ALWAYS AS IDENTITY,
        agent text NOT NULL,
        speaker text NOT NULL,
        content text NOT NULL,
        words tsvector GENERATED ALWAYS AS (to_tsvector('english', content)) STORED,
        vector halfvec(256) NOT NULL,
        PRIMARY KEY (agent, id)
    ) PARTITION BY LIST (agent)
    """,
    "CREATE TABLE plain.entry_of_others PARTITION OF plain.entry DEFAULT",
)
_PARTITION = "CREATE TABLE plain.{name} PARTITION OF plain.entry FOR VALUES IN ({agent})"
_COPY = """
INSERT INTO plain.entry (agent, speaker, content, vector)
SELECT e.agent_id, e.speaker, e.content, v.vector::halfvec(256)
  FROM mnestic.entry AS e
  JOIN mnestic.embedding AS v
    ON (v.tenant_id, v.agent_id, v.entry_number) = (e.tenant_id, e.agent_id, e.number)
 WHERE e.tenant_id = %s AND e.agent_id = ANY(%s)
 ORDER BY e.agent_id, e.number
"""
_WORDS_INDEX = "CREATE INDEX entry_words ON plain.entry USING gin (words)"
_VECTORS_INDEX = "CREATE INDEX ON plain.{name} USING hnsw (vector halfvec_ip_ops)"
# The agent is written out, so that Postgres plans for its partition alone.
_RETRIEVE = """
WITH question AS (
    SELECT replace(plainto_tsquery('english', %(text)s)::text, '&', '|')::tsquery AS words
), near AS (
    SELECT id, row_number() OVER (ORDER BY distance) AS place
      FROM (SELECT id, vector <#> %(vector)s::halfvec(256) AS distance FROM plain.entry
             WHERE agent = {agent} ORDER BY distance LIMIT 100) AS nearest
), matching AS (
    SELECT id, row_number() OVER (ORDER BY rank DESC) AS place
      FROM (SELECT e.id, ts_rank(e.words, q.words) AS rank
              FROM plain.entry AS e, question AS q
             WHERE e.agent = {agent} AND e.words @@ q.words
             ORDER BY rank DESC LIMIT 100) AS best
), fused AS (
    SELECT id, sum(1.0 / (60 + place)) AS score
      FROM (TABLE near UNION ALL TABLE matching) AS found
     GROUP BY id ORDER BY score DESC LIMIT 10
)
SELECT e.id, e.speaker, e.content, f.score
  FROM fused AS f JOIN plain.entry AS e ON e.id = f.id AND e.agent = {agent}
 ORDER BY f.score DESC
"""
_ADD = """
INSERT INTO plain.entry (agent, speaker, content, vector) VALUES (%s, %s, %s, %s) RETURNING id
"""


class PlainStatement:
    """Asks and adds by plain statements, on as many connections as are used at once."""

    def __init__(self, url: str, connection: psycopg.AsyncConnection) -> None:
        self._url = url
        self._connections, self._idle = [connection], [connection]
        self._embedder: Any = None
        self._added: list[int] = []

    @classmethod
    async def connect(cls, url: str) -> Self:
        """Opens the first connection, to the schema's owner."""
        return cls(url, await _open(url))

    async def ask(self, agent: str, question: str) -> None:
        """Reads the ten best entries."""
        vector = await self._embed(question)
        statement = sql.SQL(_RETRIEVE).format(agent=agent)
        rows = await self._execute(statement, {"text": question, "vector": vector})
        if not rows:
            raise RuntimeError(f"{agent} has no entries in the table of the plain statement")

    ask_before_message = ask

    async def add(self, agent: str, content: str) -> None:
        """Adds an entry with its words and its vector, committed when it returns."""
        rows = await self._execute(_ADD, [agent, agent, content, await self._embed(content)])
        self._added.append(rows[0][0])

    async def fill(self, agent: str, contents: Sequence[str]) -> None:
        """`build_plain` has done it."""

    async def remove_added(self, agent: str) -> None:
        """Removes what this process has added."""
        connection = self._connections[0]
        await connection.execute(
            "DELETE FROM plain.entry WHERE agent = %s AND id = ANY(%s)", [agent, self._added]
        )

    def answers_cached(self) -> tuple[int, int]:
        """Nothing is cached here."""
        return 0, 0

    async def close(self) -> None:
        """Closes all connections."""
        for connection in self._connections:
            await connection.close()

    async def _embed(self, text: str) -> str:
        if self._embedder is None:
            from mnestic.activities.clients.token_vectors import (  # noqa: PLC0415 - who only connects needs no model
                TokenVectorEmbedder,
            )

            self._embedder = TokenVectorEmbedder()
        embedded = await self._embedder.embed([text])
        return json.dumps(np.frombuffer(embedded.vectors[0], "<f4").tolist())

    async def _execute(self, statement: Any, values: Any) -> list[Any]:
        connection = self._idle.pop() if self._idle else await self._open_another()
        try:
            return await (await connection.execute(statement, values)).fetchall()
        finally:
            self._idle.append(connection)

    async def _open_another(self) -> psycopg.AsyncConnection:
        connection = await _open(self._url)
        self._connections.append(connection)
        return connection


async def build_plain(
    owner: psycopg.AsyncConnection, *, tenant: str, large: Mapping[str, int], others: Sequence[str]
) -> None:
    """Copies entries of a tenant into a table of its own, with its indexes, in one transaction.

    Args:
        owner: Of the schema; commits by itself.
        tenant: Whose agents they are.
        large: Agents that get partitions of their own, and how many entries each has.
        others: Agents that share a partition.
    """
    async with owner.transaction():
        await owner.execute("SET LOCAL maintenance_work_mem = '1GB'")
        for statement in _TABLE:
            await owner.execute(statement)
        for agent in large:
            name = _partition(agent)
            await owner.execute(sql.SQL(_PARTITION).format(name=name, agent=agent))
        await owner.execute(_COPY, [tenant, [*large, *others]])
        await owner.execute(_WORDS_INDEX)
        for agent, entries in large.items():
            if entries >= INDEXED_FROM:
                await owner.execute(sql.SQL(_VECTORS_INDEX).format(name=_partition(agent)))


def _partition(agent: str) -> sql.Identifier:
    return sql.Identifier(f"entry_{agent}")


async def _open(url: str) -> psycopg.AsyncConnection:
    # Its plans differ too much by agent and question for one to serve all; `jit` costs more than it gives.
    options = "-c plan_cache_mode=force_custom_plan -c jit=off -c hnsw.ef_search=100"
    return await psycopg.AsyncConnection.connect(url, autocommit=True, options=options)
