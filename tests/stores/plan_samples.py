"""Memories to ask, what Postgres is asked of them, and the parts of its plans."""

from collections.abc import Coroutine, Iterator, Sequence
from hashlib import sha256
from typing import Any, NamedTuple

import numpy as np
import pytest
from psycopg import AsyncConnection, AsyncRawCursor, sql

from benchmarks.messages import messages
from mnestic.activities.knowledge.receiving import receive
from mnestic.memory.knowledge.claims import Claim, ClaimSource
from mnestic.memory.knowledge.entries import Embedding
from mnestic.memory.knowledge.resources import Resource
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.stores.postgres.connections import Query, run_together
from mnestic.stores.postgres.memory import PostgresMemory


class Plan(NamedTuple):
    """A statement, and how Postgres answers it."""

    statement: str
    plan: dict[str, Any]


async def keep(memory: PostgresMemory, *, tenant: str, number: int) -> None:
    """The entries of the agent *base*, each with a vector and something learned; which does not matter here."""
    said = list(messages(number, seed=5))
    async with memory.transaction(
        tenant_id=tenant, agent_id="base", actor="test", write=True
    ) as transaction:
        await receive(transaction, said, owner=f"{tenant}/base")
        await transaction.facts.claim([claim_of(one) for one in said])
        bare = await transaction.entries.list_unembedded("wordllama-256", limit=number)
        vectors = [
            Embedding(entry_id=one.id, content=one.content, vector=vector_of(place))
            for place, one in enumerate(bare)
        ]
        await transaction.entries.embed("wordllama-256", vectors)


def claim_of(message: Resource) -> Claim:
    """What a message claims: of some who said it another home, of others something that they like."""
    is_home = int(sha256(message.source_id.encode()).hexdigest(), 16) % 4 == 0
    source = ClaimSource(
        extractor="test", session_id=message.session_id, source_id=message.source_id
    )
    return Claim(
        id=f"{message.session_id}/{message.source_id}",
        subject=message.speaker,
        predicate="lives_in" if is_home else "likes",
        object=" ".join(message.content.split()[:3]),
        said_at=message.at,
        source=source,
    )


def vector_of(place: int) -> bytes:
    vector = np.random.default_rng(place).normal(size=256).astype("<f4")
    return (vector / np.linalg.norm(vector)).tobytes()


async def statements_of(
    asked: MemoryClient, monkeypatch: pytest.MonkeyPatch, text: str, **fields: Any
) -> list[Query]:
    """What Postgres is asked for a question, from the beginning of its transaction."""
    return await statements_while(monkeypatch, asked.retrieve(text, is_access=False, **fields))


async def statements_while(
    monkeypatch: pytest.MonkeyPatch, work: Coroutine[Any, Any, object]
) -> list[Query]:
    """What Postgres is asked while something is done, without what SQLAlchemy builds."""
    statements: list[Query] = []

    async def noted(
        connection: AsyncConnection[Any], queries: Sequence[Query], *, opening: Sequence[Query] = ()
    ) -> list[list[Any]]:
        statements.extend((*opening, *queries))
        return await run_together(connection, queries, opening=opening)

    with monkeypatch.context() as patched:
        patched.setattr("mnestic.stores.postgres.unit_of_work.run_together", noted)
        await work
    return statements


async def plans_of(url: str, statements: Sequence[Query], how: str = "") -> list[Plan]:
    """The plans of what a transaction asked, in the order of its statements and by its own settings.

    Args:
        url: The database, as the application.
        statements: All of the transaction.
        how: More options of `EXPLAIN`, such as `ANALYZE,`.
    """
    plans = []
    async with await AsyncConnection.connect(url, autocommit=True) as connection:
        for number, (statement, values) in enumerate(statements):
            if statement in {"BEGIN", "COMMIT"} or "set_config(" in statement:
                await AsyncRawCursor(connection).execute(statement, values)
                continue
            await connection.execute(f"PREPARE asked_{number} AS {statement}")
            given = sql.SQL(", ").join(map(sql.Literal, values))
            run = f"EXPLAIN ({how} FORMAT JSON) EXECUTE asked_{number} ({{}})"
            found = await connection.execute(sql.SQL(run).format(given))
            ((plan,),) = await found.fetchall()
            plans.append(Plan(statement, plan[0]["Plan"]))
    return plans


def parts_of(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A plan and all of its parts."""
    yield plan
    for part in plan.get("Plans", ()):
        yield from parts_of(part)
