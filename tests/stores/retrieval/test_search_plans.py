"""How Postgres answers a search: by indexes, as the application's own role, among entries of others."""

import uuid
from datetime import UTC, datetime
from typing import Any

import psycopg
import pytest

from benchmarks.retrieval.crowd import crowd
from mnestic.memory.knowledge.claims import ClaimSource
from mnestic.memory.knowledge.entries import EntryQuery
from mnestic.memory.knowledge.facts import Interval
from mnestic.starter.client.client_scope import client_caller
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.settings import Settings
from mnestic.stores.postgres.memory import PostgresMemory
from mnestic.stores.postgres.queries import read_query
from mnestic.stores.postgres.transaction_setup import begin_statements
from tests.stores.plan_samples import keep, parts_of, plans_of, statements_of, statements_while

# Rows of whoever is asked, and of the others: 1,000 of 26,000 entries.
OWN, OTHERS = 1000, 25
AGENT = "agent-7"
LARGE = {
    *("entry", "entry_term", "posting", "embedding", "resource", "claim", "fact"),
    "supersession",
}
STATEMENTS = (
    "resolve_terms",
    "suggest_terms",
    "find_candidates",
    "fetch_hits",
)
QUESTIONS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("What did Mara say about the tide and the harbour?", {}),
    ("Where does Jonas live?", {"as_of": "2015-02-01T00:00:00Z"}),
    ("Where do Jnoas and Émlie live?", {}),
    ("Where did Jonas live last year?", {"asked_at": "2017-01-05T00:00:00Z"}),
    ("Where did Jonas live last year?", {"asked_at": "2015-01-05T00:00:00Z"}),
    ("Who went to the concert last week?", {"asked_at": "2015-01-05T00:00:00Z"}),
    ("What did Mara say on 3 May?", {"asked_at": "2017-01-05T00:00:00Z"}),
    ("the coffee", {"mode": "text"}),
    ("the coffee", {"mode": "semantic"}),
    ("coffee", {"session_id": "session_3"}),
    ("coffee", {"channel": "benchmark", "since": "2015-01-02T00:00:00Z"}),
    ("coffee", {"subject": "Mara", "tags": ["profile"], "categories": ["profile"]}),
    ("coffee", {"statuses": ["archived"], "entry_types": ["interaction"]}),
    ("Mara", {}),
)

pytestmark = pytest.mark.acceptance  # a crowd takes ten seconds to make


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
        await keep(memory, tenant=settings.tenant_id, number=OWN)
        async with await psycopg.AsyncConnection.connect(admin_url, autocommit=True) as owner:
            shares = {f"agent-{number}": 1 for number in range(OTHERS)}
            await crowd(owner, tenant=settings.tenant_id, agent="base", shares=shares)
        crowded["tenant"] = settings.tenant_id
    return MemoryClient(client_caller(memory, tenant_id=crowded["tenant"], agent_id=AGENT))


@pytest.fixture
def url(application_url: str) -> str:
    """The database, as the application."""
    return application_url


async def test_no_question_reads_all_entries_of_everybody(
    asked: MemoryClient, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    scans = []

    for text, fields in QUESTIONS:
        plans = await plans_of(url, await statements_of(asked, monkeypatch, text, **fields))
        assert len(plans) >= 2, text
        scans += [
            (text, part["Relation Name"])
            for one in plans
            for part in parts_of(one.plan)
            if part["Node Type"] == "Seq Scan" and part["Relation Name"] in LARGE
        ]

    assert scans == []


async def test_the_questions_run_each_statement_of_a_search(
    asked: MemoryClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = {
        statement
        for text, fields in QUESTIONS
        for statement, _ in await statements_of(asked, monkeypatch, text, **fields)
    }

    left = [name for name in STATEMENTS if read_query(name).text not in run]

    assert not left


async def test_what_held_of_somebody_is_found_by_an_index(
    memory: PostgresMemory,
    asked: MemoryClient,
    crowded: dict[str, str],
    url: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert (await asked.facts.list(subject="Jonas"))[0]
    then = datetime(2015, 2, 1, tzinfo=UTC)

    async def list_valid() -> None:
        async with memory.transaction(
            tenant_id=crowded["tenant"], agent_id=AGENT, actor="test", write=False
        ) as transaction:
            await transaction.facts.list_valid("Jonas", Interval(then, then), limit=100)

    plans = await plans_of(url, await statements_while(monkeypatch, list_valid()), "ANALYZE,")

    (held,) = [one for one in plans if one.statement == read_query("valid_facts").text]
    read = {
        part["Relation Name"]: part["Node Type"]
        for part in parts_of(held.plan)
        if part.get("Relation Name") in LARGE
    }
    assert read
    assert "Seq Scan" not in read.values()


async def test_what_follows_from_a_few_facts_and_messages_is_found_by_indexes(
    memory: PostgresMemory,
    asked: MemoryClient,
    crowded: dict[str, str],
    url: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (fact, *_), _ = await asked.facts.list(subject="Jonas")
    (entry, *_), _ = await asked.entries.list(EntryQuery())

    async def write() -> None:
        async with memory.transaction(
            tenant_id=crowded["tenant"], agent_id=AGENT, actor="test", write=True
        ) as transaction:
            await transaction.entries.remove([entry.id])
            again = {"id": uuid.uuid4().hex, "source": ClaimSource(extractor="person")}
            said = (await transaction.facts.list_claims(fact))[-1]
            await transaction.facts.claim([said.model_copy(update=again)])

    written = await statements_while(monkeypatch, write())
    begin = begin_statements(crowded["tenant"], write=False)
    text = read_query("find_derived_entries").text
    (derived,) = await plans_of(
        url, [*begin, *(one for one in written if one[0] == text)], "ANALYZE,"
    )

    scans = [part for part in parts_of(derived.plan) if part.get("Relation Name") in LARGE]
    assert {part["Relation Name"] for part in scans} >= {"fact", "claim", "entry"}
    assert "Seq Scan" not in {part["Node Type"] for part in scans}
    assert max(part["Actual Rows"] for part in scans) < OWN / 10


async def test_agents_are_counted_by_indexes(
    asked: MemoryClient, crowded: dict[str, str], url: str
) -> None:
    assert (await asked.stats()).entries.total
    values = {"tenant_id": crowded["tenant"], "every_agent": "*", "agent_id": AGENT}
    query = read_query("list_agents").bind({**values, "after": None, "limit": 10})

    (plan,) = await plans_of(url, [*begin_statements(crowded["tenant"], write=False), query])

    indexes = [str(part.get("Index Name")) for part in parts_of(plan.plan)]
    assert [name for name in indexes if name.startswith("entry_")] == ["entry_derived"]
