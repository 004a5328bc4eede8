"""A graph is compared with its facts in one pass, also while the statistics are those of an empty table."""

from datetime import UTC, datetime

import psycopg

from mnestic.memory.knowledge.claims import Claim, ClaimSource
from mnestic.memory.ports import Memory
from mnestic.starter.settings import Settings
from mnestic.stores.postgres.queries import read_query
from mnestic.stores.postgres.transaction_setup import begin_statements
from tests.stores.plan_samples import parts_of, plans_of

AGENT = "ada"
FACTS = 300
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


async def test_edges_are_read_once_after_a_mass_change(
    memory: Memory, settings: Settings, admin_url: str
) -> None:
    assert settings.database_url is not None
    with psycopg.connect(admin_url, autocommit=True) as owner:
        owner.execute("ANALYZE mnestic.graph_edge")
        await add_facts(memory, tenant=settings.tenant_id)
    query = read_query("rebuild_graph").bind({"tenant_id": settings.tenant_id, "agent_id": AGENT})

    (rebuilt,) = await plans_of(
        settings.database_url.get_secret_value(),
        [*begin_statements(settings.tenant_id, write=True), query, ("COMMIT", ())],
        "ANALYZE,",
    )

    edges = [part for part in parts_of(rebuilt.plan) if part.get("Relation Name") == "graph_edge"]
    scans = [part for part in edges if "Scan" in part["Node Type"]]
    assert {part["Node Type"] for part in parts_of(rebuilt.plan)} & {"Hash Join", "Merge Join"}
    assert {part["Actual Loops"] for part in scans} == {1}
    assert max(part["Actual Rows"] for part in scans) == FACTS


async def add_facts(memory: Memory, *, tenant: str) -> None:
    claims = [
        Claim(
            id=f"c{number}",
            subject=f"Person {number}",
            predicate="likes",
            object="tea",
            said_at=NOON,
            source=ClaimSource(extractor="person"),
        )
        for number in range(FACTS)
    ]
    async with memory.transaction(
        tenant_id=tenant, agent_id=AGENT, actor="test", write=True
    ) as transaction:
        await transaction.facts.claim(claims)
