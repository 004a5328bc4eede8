"""Contracts of a tenant: applied, versioned, compared, taken back, and what they make of records."""

import asyncio
import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import psycopg
import pytest
import yaml
from hypothesis import given

from mnestic.memory.errors import (
    ConfigurationError,
    InvalidContractError,
    InvalidInputError,
    NotFoundError,
    RefusedError,
    StaleVersionError,
)
from mnestic.memory.jobs.long_term.filters import read_filter
from mnestic.memory.selectors import find_selector
from mnestic.starter.access.audit import AuditClient
from mnestic.starter.client.client_scope import client_caller
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.contract.contracts import ContractsClient
from mnestic.starter.settings import Settings
from mnestic.stores.postgres.jobs.record_filters import page_query
from mnestic.stores.postgres.jobs.record_indexes import index_records
from mnestic.stores.postgres.memory import PostgresMemory

SEO = yaml.safe_load(
    (Path(__file__).parents[3] / "examples/seo_contract.yaml").read_text(encoding="utf-8")
)
AGENT, TENANT = "agent.seo.audit", "selectors"
PAGE = {
    "properties": {
        "score": {"type": "number"},
        "page": {"properties": {"title": {"type": "string"}}},
    }
}
AUDIT = {"audit_id": "1", "agent_id": AGENT, "timestamp": "2026-11-30T09:00:00Z", "score": 71}


@pytest.fixture
def contracts(memory: PostgresMemory, settings: Settings, admin_url: str) -> ContractsClient:
    return ContractsClient(
        memory,
        tenant_id=settings.tenant_id,
        actor="test",
        environment={"SUPABASE_URL": admin_url},
    )


def long_term(**schema: Any) -> dict[str, Any]:
    """A contract with one schema, `notes`."""
    return {
        "Memory": {
            "long_term": {
                "enabled": True,
                "storage_backends": [{"backend_id": "main", "type": "postgres"}],
                "schemas": [{"schema_id": "notes", "backend": "main", "structure": {}, **schema}],
            }
        }
    }


async def store(memory: PostgresMemory, settings: Settings, value: Any, **fields: Any) -> Any:
    """Writes a note of the agent."""
    async with memory.transaction(
        tenant_id=settings.tenant_id, agent_id=AGENT, actor="test", write=True
    ) as transaction:
        return await transaction.records.set(
            fields.pop("namespace", "notes"), fields.pop("key", "k"), value, **fields
        )


async def test_each_application_is_a_version_and_the_same_again_is_none(
    contracts: ContractsClient,
) -> None:
    first = await contracts.apply("agent.seo.*", SEO)
    again = await contracts.apply("agent.seo.*", SEO)
    second = await contracts.apply("agent.seo.*", long_term())
    back = await contracts.rollback("agent.seo.*", 1)

    assert (first.version, again.version, second.version, back.version) == (1, 1, 2, 3)
    assert back.document == first.document == SEO
    versions, _ = await contracts.history("agent.seo.*")
    assert [one.version for one in versions] == [3, 2, 1]
    assert await contracts.diff("agent.seo.*", before=1, after=3) == ()
    assert [one.path for one in await contracts.diff("agent.seo.*", before=1, after=2)]


async def test_a_contract_that_is_removed_is_in_force_no_longer_and_can_come_back(
    contracts: ContractsClient,
) -> None:
    await contracts.apply("*", SEO)
    await contracts.remove("*")

    assert await contracts.find_for(AGENT) is None
    assert await contracts.list() == ()
    with pytest.raises(NotFoundError):
        await contracts.get("*")
    with pytest.raises(InvalidInputError, match="took the contract away"):
        await contracts.rollback("*", 2)
    assert (await contracts.rollback("*", 1)).version == 3


async def test_variables_that_are_not_set_are_named_and_none_is_stored(
    memory: PostgresMemory, settings: Settings, contracts: ContractsClient, admin_url: str
) -> None:
    bare = ContractsClient(memory, tenant_id=settings.tenant_id, environment={})

    with pytest.raises(ConfigurationError, match="SUPABASE_URL"):
        await bare.apply(AGENT, SEO)
    applied = await contracts.apply(AGENT, SEO)

    assert admin_url not in applied.model_dump_json()
    assert "${SUPABASE_URL}" in applied.model_dump_json()


async def test_of_two_versions_applied_at_once_each_has_its_number(
    contracts: ContractsClient,
) -> None:
    preview = await contracts.preview(AGENT, SEO)
    await contracts.apply(AGENT, long_term())

    with pytest.raises(StaleVersionError):
        await contracts.apply(AGENT, SEO, expected_version=preview.base_version)
    results = await asyncio.gather(
        *(contracts.apply(AGENT, long_term(ttl_days=days)) for days in range(1, 9))
    )
    assert sorted(one.version for one in results) == [*range(2, 10)]


async def test_a_document_with_problems_is_refused_with_all_of_them(
    contracts: ContractsClient,
) -> None:
    with pytest.raises(InvalidContractError) as refusal:
        await contracts.apply(AGENT, {"Memory": {"short_term": {"enabled": 3}, "graf": {}}})

    assert len(refusal.value.problems) == 2
    assert await contracts.find_for(AGENT) is None


@given(
    selectors=st.lists(
        st.text(alphabet="ab.*_", min_size=1, max_size=5).filter(lambda one: one[0] in "ab*"),
        min_size=1,
        max_size=6,
        unique=True,
    ),
    agent=st.text(alphabet="ab._", min_size=1, max_size=5).filter(lambda one: one[0] in "ab"),
)
def test_postgres_chooses_the_contract_as_selectors_do(
    admin_url: str, selectors: list[str], agent: str
) -> None:
    with psycopg.connect(admin_url) as owner:
        owner.execute("SELECT set_config('mnestic.tenant_id', %s, false)", [TENANT])
        for selector in selectors:
            owner.execute(
                "INSERT INTO mnestic.contract VALUES (%s, %s, 1, '{}', '', 'test', now())",
                [TENANT, selector],
            )
        row = owner.execute(
            "SELECT selector FROM mnestic.contract_of(%s, %s)", [TENANT, agent]
        ).fetchone()
        owner.rollback()

    assert (row[0] if row else None) == find_selector(selectors, agent)


async def test_a_value_must_fit_the_schema_of_the_contract_in_force(
    memory: PostgresMemory, settings: Settings, contracts: ContractsClient
) -> None:
    await contracts.apply("agent.seo.*", SEO)

    with pytest.raises(
        InvalidInputError, match=r'value\.timestamp: "yesterday" is not a "date-time"'
    ):
        await store(
            memory, settings, AUDIT | {"timestamp": "yesterday"}, namespace="seo_audit_history"
        )
    stored = await store(memory, settings, AUDIT, namespace="seo_audit_history")
    free = await store(memory, settings, "anything", namespace="elsewhere")

    assert stored.version == 1
    assert stored.expires_at - stored.updated_at == timedelta(days=90)
    assert free.expires_at is None


async def test_a_shorter_time_to_live_holds_at_once_and_a_shorter_one_of_a_write_stays(
    memory: PostgresMemory, settings: Settings, contracts: ContractsClient
) -> None:
    await contracts.apply(AGENT, long_term(ttl_days=90))
    brief = await store(memory, settings, 1, key="brief", ttl=timedelta(hours=1))
    lasting = await store(memory, settings, 1)
    await contracts.apply(AGENT, long_term(ttl_days=1))

    async with memory.transaction(
        tenant_id=settings.tenant_id, agent_id=AGENT, actor="test", write=False
    ) as transaction:
        after = await transaction.records.get("notes", "k")
        assert after.expires_at == lasting.updated_at + timedelta(days=1)
        assert (await transaction.records.get("notes", "brief")).expires_at == brief.expires_at


@pytest.mark.parametrize("records", [20_000, pytest.param(100_000, marks=pytest.mark.nightly)])
async def test_the_indexes_of_schemas_are_built_used_and_dropped(
    settings: Settings, admin_url: str, contracts: ContractsClient, *, records: int
) -> None:
    await contracts.apply(AGENT, long_term(structure=PAGE, indexes=["score", "page.title"]))
    with psycopg.connect(admin_url) as owner:
        owner.execute("SELECT set_config('mnestic.tenant_id', %s, false)", [settings.tenant_id])
        owner.execute(
            "INSERT INTO mnestic.long_term_record"
            " (tenant_id, agent_id, namespace, key, version, value, created_at, updated_at)"
            " SELECT %s, %s, 'notes', 'k' || n, 1, jsonb_build_object('score', n), now(), now()"
            " FROM generate_series(1, %s) AS n",
            [settings.tenant_id, AGENT, records],
        )

    built = await asyncio.to_thread(index_records, admin_url, settings.tenant_id)
    again = await asyncio.to_thread(index_records, admin_url, settings.tenant_id)
    plans = {
        "of a value": {"where": {"field": "score", "value": 71}},
        "of a range": {"where": {"field": "score", "op": "gt", "value": records - 10}},
        "of the order": {"order_by": ["score"], "descending": True, "limit": 5},
    }
    with psycopg.connect(admin_url, autocommit=True) as owner:
        owner.execute("ANALYZE mnestic.long_term_record")
    used = {name: plan_of(admin_url, settings, plan) for name, plan in plans.items()}
    await contracts.apply(AGENT, long_term(structure=PAGE, indexes=["score"]))
    dropped = await asyncio.to_thread(index_records, admin_url, settings.tenant_id)

    assert sorted(one.field for one in built.built) == ["page.title", "score"]
    assert (again.built, again.dropped) == ((), 0)
    name = next(one.name for one in built.built if one.field == "score")
    assert [name in plan for plan in used.values()] == [True, True, True], used
    for of in ("of a value", "of a range"):
        assert re.search(r"Index Cond: .*\{score\}", used[of]), used[of]
    assert (dropped.built, dropped.dropped) == ((), 1)


def plan_of(admin_url: str, settings: Settings, found: dict[str, Any]) -> str:
    """How Postgres answers a query of the application, which row-level security holds."""
    query, values = page_query(settings.tenant_id, "notes", read_filter(found))
    text, parameters = query.bind({**values, "agent_id": AGENT})
    with psycopg.connect(admin_url) as connection:
        connection.execute("SET LOCAL ROLE mnestic_app")
        connection.execute("SELECT set_config('mnestic.tenant_id', %s, true)", [settings.tenant_id])
        rows = psycopg.RawCursor(connection).execute(f"EXPLAIN {text}", parameters).fetchall()
    return "\n".join(row[0] for row in rows)


async def test_each_access_leaves_an_audit_row_also_where_it_is_refused(
    memory: PostgresMemory, settings: Settings, contracts: ContractsClient
) -> None:
    await contracts.apply(AGENT, long_term(structure={"type": "object"}))
    records = MemoryClient(
        client_caller(memory, tenant_id=settings.tenant_id, agent_id=AGENT)
    ).records
    refused = [
        records.get("notes", "none"),
        records.set("notes", "k", "no object"),
        records.set("notes", "k", {}, expected_version=7),
        records.delete("notes", "none"),
    ]
    for access in refused:
        with pytest.raises(RefusedError):
            await access
    await records.set("notes", "k", {})
    await records.query("notes")

    audit = AuditClient(memory, tenant_id=settings.tenant_id)
    rows, _ = await audit.list(agent_id=AGENT)
    left = [(one.action, one.target, one.reason) for one in reversed(rows)]
    assert [one for one in left if one[0].startswith("record.")] == [
        ("record.get", "notes/none", "refused: NotFoundError"),
        ("record.set", "notes/k", "refused: InvalidInputError"),
        ("record.set", "notes/k", "refused: StaleVersionError"),
        ("record.delete", "notes/none", "refused: NotFoundError"),
        ("record.set", "notes/k", None),
        ("record.query", "notes", None),
    ]
