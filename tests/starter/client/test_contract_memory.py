"""The memory of an agent by its contract: each operation of the document."""

import copy
from typing import Any

import pytest

from mnestic.memory.errors import InvalidInputError, KeptOutError, NotFoundError
from mnestic.memory.ports import Memory
from mnestic.starter.access.audit import AuditClient
from mnestic.starter.client.memory_connection import MemoryConnection
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.settings import Settings
from mnestic.stores.postgres.memory import PostgresMemory
from tests.wire import counting

AGENT = "agent.seo.audit"
DOCUMENT: dict[str, Any] = {
    "Memory": {
        "short_term": {
            "enabled": True,
            "max_tokens": 1000,
            "segments": [{"segment_id": "task_context", "max_tokens": 1000}],
        },
        "long_term": {
            "enabled": True,
            "storage_backends": [{"backend_id": "main", "type": "postgres"}],
            "schemas": [
                {
                    "schema_id": "audits",
                    "backend": "main",
                    "structure": {"properties": {"score": {"type": "number"}}},
                    "indexes": ["score"],
                }
            ],
        },
    }
}


async def test_records_and_segments_are_reached_by_the_names_of_the_contract(
    client: MnesticClient,
) -> None:
    await client.contracts().apply("agent.seo.*", DOCUMENT)
    memory = await client.contract(AGENT, session_id="monday")

    await memory.persist("audits", "site-7", {"score": 71}, metadata={"by": "crawler"})
    await memory.persist("audits", "site-8", {"score": 90})
    await memory.set_context("task_context", "Audit site 7. Then audit site 8.")
    found, cursor = await memory.query(
        "audits", {"where": {"field": "score", "op": "lt", "value": 80}}
    )
    context = await memory.get_context("task_context")

    assert memory.config.short_term.max_tokens == 1000
    assert await memory.retrieve("audits", "site-7") == {"score": 71}
    assert ([(one.key, one.metadata) for one in found], cursor) == (
        [("site-7", {"by": "crawler"})],
        None,
    )
    assert context.content == "Audit site 7. Then audit site 8."
    assert 0 < context.tokens <= 20
    assert await memory.summarize("task_context") == context.content


async def test_what_the_contract_does_not_have_is_refused_by_name(client: MnesticClient) -> None:
    with pytest.raises(NotFoundError, match="contract for agent"):
        await client.contract(AGENT)
    await client.contracts().apply(AGENT, DOCUMENT)
    memory = await client.contract(AGENT)

    with pytest.raises(
        InvalidInputError, match=r"'audit' is not in the contract .* there are audits"
    ):
        await memory.persist("audit", "site-7", {})
    with pytest.raises(InvalidInputError, match="session: is not named"):
        await memory.get_context("task_context")
    with pytest.raises(NotFoundError, match="audits/site-7"):
        await memory.retrieve("audits", "site-7")


async def test_what_is_kept_out_is_not_written_and_the_attempt_is_in_the_audit_log(
    client: MnesticClient, memory: Memory, settings: Settings
) -> None:
    await client.contracts().apply(AGENT, DOCUMENT)
    contract = await client.contract(AGENT)
    await contract.persist("audits", "site-7", {"score": 71})
    async with memory.transaction(
        tenant_id=settings.tenant_id, agent_id=AGENT, actor="test", write=True
    ) as transaction:
        await transaction.forgetting.begin("f1", "Otilia", entries=())
        await transaction.suppression_list.add("f1", "Otilia")

    with pytest.raises(KeptOutError):
        await contract.persist("audits", "site-7", {"by": "Otilia"})

    rows, _ = await AuditClient(memory, tenant_id=settings.tenant_id).list(agent_id=AGENT)
    assert await contract.retrieve("audits", "site-7") == {"score": 71}
    assert (rows[0].action, rows[0].reason) == ("memory.persist", "refused: KeptOutError")


async def test_a_write_waits_for_postgres_twice(
    client: MnesticClient, settings: Settings, admin_url: str
) -> None:
    await client.contracts().apply(AGENT, DOCUMENT)
    async with counting(admin_url.replace("postgres@", "mnestic_app@")) as wire:
        memory = PostgresMemory(wire.url, pool_size=1)
        contract = await MemoryConnection(memory, settings=settings, is_shared=True).contract(AGENT)
        await contract.persist("audits", "site-7", {"score": 71})  # which prepares the statements
        before = wire.round_trips

        written = await contract.persist("audits", "site-7", {"score": 72, "at": [1.0, 1e3]})

        assert wire.round_trips - before == 2
        await memory.close()
    (stored,), _ = await client.memory(AGENT).records.list("audits")
    assert stored.model_dump() == written.model_dump(exclude={"conflict_id"})


async def test_records_that_do_not_fit_a_new_structure_are_listed_and_refused_at_their_next_write(
    client: MnesticClient,
) -> None:
    await client.contracts().apply(AGENT, DOCUMENT)
    memory = await client.contract(AGENT)
    for key, score in (("a", 1), ("b", 90), ("c", 2)):
        await memory.persist("audits", key, {"score": score})
    changed = copy.deepcopy(DOCUMENT)
    (schema,) = changed["Memory"]["long_term"]["schemas"]
    schema["structure"]["properties"]["score"]["minimum"] = 50
    await client.contracts().apply(AGENT, changed)

    first, cursor = await memory.list_misfits("audits", limit=2)
    second, end = await memory.list_misfits("audits", limit=2, cursor=cursor)

    assert [(one.key, one.version) for one in (*first, *second)] == [("a", 1), ("c", 1)]
    assert "score" in first[0].why
    assert end is None
    assert await memory.retrieve("audits", "a") == {"score": 1}
    with pytest.raises(InvalidInputError, match="minimum"):
        await memory.persist("audits", "a", {"score": 2})
    with pytest.raises(InvalidInputError, match="'none' is not in the contract"):
        await memory.list_misfits("none")
