"""How edges are read while the statistics are those of an empty table: all in one pass, or each by its key."""

from datetime import UTC, datetime
from typing import Any

import psycopg

from mnestic.memory.knowledge.claims import Claim, ClaimSource
from mnestic.memory.ports import Memory
from mnestic.starter.settings import Settings
from mnestic.stores.postgres.queries import read_query
from mnestic.stores.postgres.transaction_setup import begin_statements
from tests.stores.plan_samples import parts_of, plans_of

AGENT = "ada"
FACTS, EDGES = 300, 20_000
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


async def test_edges_are_read_once_after_a_mass_change(
    memory: Memory, settings: Settings, admin_url: str
) -> None:
    await add_facts_after_analysis(memory, settings, admin_url)

    plan = await plan_of("rebuild_graph", settings)

    scans = edge_scans(plan)
    assert {part["Node Type"] for part in parts_of(plan)} & {"Hash Join", "Merge Join"}
    assert {part["Actual Loops"] for part in scans} <= {0, 1}
    assert max(part["Actual Rows"] for part in scans) == FACTS


async def test_edges_are_looked_up_one_by_one_after_a_mass_change(
    settings: Settings, admin_url: str
) -> None:
    with psycopg.connect(admin_url, autocommit=True) as owner:
        owner.execute("ANALYZE mnestic.graph_edge")
        owner.execute(
            """INSERT INTO mnestic.graph_edge
               SELECT %s, %s, 'e' || n, 'Mara', 'mara', 'likes', 'tea', 'tea', 1, true, now()
                 FROM generate_series(1, %s) AS n""",
            [settings.tenant_id, AGENT, EDGES],
        )

    plan = await plan_of("refresh_graph", settings, facts=["f1", "f2", "f3"])

    assert edge_scans(plan)
    assert sum(_rows_read(part) for part in edge_scans(plan)) == 0


def _rows_read(scan: dict[str, Any]) -> int:
    """How many rows a scan has read in all, also those that it did not return."""
    return int(scan["Actual Loops"] * (scan["Actual Rows"] + scan.get("Rows Removed by Filter", 0)))


async def plan_of(query: str, settings: Settings, **values: Any) -> dict[str, Any]:
    assert settings.database_url is not None
    owner = {"tenant_id": settings.tenant_id, "agent_id": AGENT}
    asked = read_query(query).bind({**owner, **values})
    (found,) = await plans_of(
        settings.database_url.get_secret_value(),
        [*begin_statements(settings.tenant_id, write=True), asked, ("COMMIT", ())],
        "ANALYZE,",
    )
    return found.plan


def edge_scans(plan: dict[str, Any]) -> list[dict[str, Any]]:
    edges = [part for part in parts_of(plan) if part.get("Relation Name") == "graph_edge"]
    return [part for part in edges if "Scan" in part["Node Type"]]


async def add_facts_after_analysis(memory: Memory, settings: Settings, admin_url: str) -> None:
    with psycopg.connect(admin_url, autocommit=True) as owner:
        owner.execute("ANALYZE mnestic.graph_edge")
        await add_facts(memory, tenant=settings.tenant_id)


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
