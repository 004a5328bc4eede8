"""Memories to ask, what Postgres is asked of them, and the parts of its plans."""

from collections.abc import Iterator
from hashlib import sha256
from typing import Any

import numpy as np
import pytest
from sqlalchemy.ext.asyncio import AsyncConnection

from benchmarks.messages import messages
from mnestic.activities.receiving import receive
from mnestic.memory.claims import Claim, ClaimSource
from mnestic.memory.entries import Embedding
from mnestic.memory.resources import Resource
from mnestic.starter.memory_client import MemoryClient
from mnestic.stores.postgres.connections import read_together, written
from mnestic.stores.postgres.memory import PostgresMemory


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
) -> list[tuple[str, Any]]:
    """What Postgres is asked for a question."""
    statements: list[tuple[str, Any]] = []

    async def noted(connection: AsyncConnection, reads: Any, **before: Any) -> Any:
        statements.extend((written(statement), values) for statement, values in reads)
        return await read_together(connection, reads, **before)

    with monkeypatch.context() as patched:
        patched.setattr("mnestic.stores.postgres.unit.read_together", noted)
        await asked.retrieve(text, **fields)
    return statements


def parts_of(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A plan and all of its parts."""
    yield plan
    for part in plan.get("Plans", ()):
        yield from parts_of(part)
