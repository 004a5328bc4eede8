"""How Postgres answers a search: by indexes, as the application's own role, among entries of others."""

from collections.abc import Iterator
from hashlib import sha256
from typing import Any

import numpy as np
import psycopg
import pytest
from sqlalchemy.ext.asyncio import AsyncConnection

from benchmarks.crowd import crowd
from benchmarks.messages import messages
from mnestic.activities.receiving import receive
from mnestic.memory.claims import Claim, ClaimSource
from mnestic.memory.entries import Embedding
from mnestic.memory.resources import Resource
from mnestic.starter.memory_client import MemoryClient
from mnestic.starter.settings import Settings
from mnestic.stores.postgres.connections import read_together, written
from mnestic.stores.postgres.memory import PostgresMemory

# Rows of whoever is asked, and of the others: 1,000 of 51,000 entries.
OWN, OTHERS = 1000, 50
LARGE = {"entry", "entry_term", "posting", "lexeme", "embedding", "resource", "claim", "fact"}
QUESTIONS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("What did Mara say about the tide and the harbour?", {}),
    ("Where does Jonas live?", {"as_of": "2015-02-01T00:00:00Z"}),
    ("Where do Jnoas and Émlie live?", {}),
    ("Where did Jonas live last year?", {"asked_at": "2017-01-05T00:00:00Z"}),
    ("Where did Jonas live last year?", {"asked_at": "2015-01-05T00:00:00Z"}),
    ("Who went to the concert last week?", {"asked_at": "2015-01-05T00:00:00Z"}),
    ("What did Mara say on 3 May?", {"asked_at": "2017-01-05T00:00:00Z"}),
    ("the harbour", {"mode": "text"}),
    ("the harbour", {"mode": "semantic"}),
    ("harbour", {"session_id": "session_3"}),
    ("harbour", {"channel": "benchmark", "since": "2015-01-02T00:00:00Z"}),
    ("harbour", {"subject": "Mara", "tags": ["profile"], "categories": ["profile"]}),
    ("harbour", {"statuses": ["archived"], "entry_types": ["interaction"]}),
    ("Mara", {}),
)


@pytest.fixture(scope="module")
def crowded() -> dict[str, str]:
    """The tenant of the crowd, once there is one in this process's database."""
    return {}


@pytest.fixture
async def asked(
    memory: PostgresMemory, settings: Settings, admin_url: str, crowded: dict[str, str]
) -> MemoryClient:
    """An agent with as many entries as others have."""
    if not crowded:
        await keep(memory, tenant=settings.tenant_id)
        async with await psycopg.AsyncConnection.connect(admin_url, autocommit=True) as owner:
            shares = {f"agent-{number}": 1 for number in range(OTHERS)}
            await crowd(owner, tenant=settings.tenant_id, agent="base", shares=shares)
        crowded["tenant"] = settings.tenant_id
    return MemoryClient(memory, tenant_id=crowded["tenant"], agent_id="agent-7")


async def keep(memory: PostgresMemory, *, tenant: str) -> None:
    """An agent's entries, each with a vector and something learned; which does not matter here."""
    said = list(messages(OWN, seed=5))
    async with memory.transaction(
        tenant_id=tenant, agent_id="base", actor="test", write=True
    ) as transaction:
        await receive(transaction, said, owner=f"{tenant}/base")
        await transaction.facts.claim([claim_of(one) for one in said])
        bare = await transaction.entries.list_unembedded("wordllama-256", limit=OWN)
        vectors = [
            Embedding(entry_id=one.id, content=one.content, vector=vector_of(number))
            for number, one in enumerate(bare)
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


def vector_of(number: int) -> bytes:
    vector = np.random.default_rng(number).normal(size=256).astype("<f4")
    return (vector / np.linalg.norm(vector)).tobytes()


@pytest.mark.parametrize(("text", "fields"), QUESTIONS)
async def test_no_question_reads_all_entries_of_everybody(
    asked: MemoryClient, monkeypatch: pytest.MonkeyPatch, text: str, fields: dict[str, Any]
) -> None:
    statements = await statements_of(asked, monkeypatch, text, **fields)

    scans = [
        (part["Relation Name"], statement)
        for statement, plan in await plans_of(asked, statements)
        for part in parts_of(plan)
        if part["Node Type"] == "Seq Scan" and part["Relation Name"] in LARGE
    ]
    assert len(statements) >= 4
    assert scans == [], {name for name, _ in scans}


@pytest.mark.parametrize("fields", [{}, {"as_of": "2015-02-01T00:00:00Z"}])
async def test_what_is_over_is_worked_out_once_for_all_entries(
    asked: MemoryClient, monkeypatch: pytest.MonkeyPatch, fields: dict[str, Any]
) -> None:
    statements = await statements_of(
        asked, monkeypatch, "harbour", statuses=["archived"], mode="text", **fields
    )

    plans = await plans_of(asked, statements, "ANALYZE,")
    looked = [
        part["Actual Loops"]
        for statement, plan in plans
        if "allowed" in statement
        for part in parts_of(plan)
        if part.get("Relation Name") == "claim"
    ]
    assert looked
    assert max(looked) == 1


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


async def plans_of(
    asked: MemoryClient, statements: list[tuple[str, Any]], how: str = ""
) -> list[tuple[str, dict[str, Any]]]:
    """Statements with their plans."""
    plans = []
    async with asked._transaction(write=False) as transaction:
        await transaction.now()  # from then on it is the application's role that asks
        for statement, values in statements:
            found = await transaction._unit.connection.exec_driver_sql(
                f"EXPLAIN ({how} FORMAT JSON) {statement}", values
            )
            plans.append((statement, found.scalar_one()[0]["Plan"]))
    return plans


def parts_of(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A plan and all of its parts."""
    yield plan
    for part in plan.get("Plans", ()):
        yield from parts_of(part)
