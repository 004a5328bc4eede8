"""The benchmark of memory by a contract, on a few records: each operation is measured beside its floor."""

import pytest

from benchmarks.contract import TARGETS, TENANT, compare
from mnestic.starter.client.memory_connection import MemoryConnection
from mnestic.starter.settings import Settings
from mnestic.stores.postgres.memory import PostgresMemory


@pytest.mark.acceptance
async def test_each_operation_is_measured_beside_its_floor(
    memory: PostgresMemory, settings: Settings, admin_url: str
) -> None:
    named = settings.model_copy(update={"tenant_id": TENANT})
    client = MemoryConnection(memory, settings=named, is_shared=True)

    found = await compare(client, admin_url, rows=200, tokens=500, samples=3, rounds=2)

    assert found["records"] == 200
    assert found["segment_tokens"] >= 500
    for name in TARGETS:
        for one in found["rounds"][name]:
            assert one.product_ms.p50 > 0
            assert one.floor_ms.p50 > 0
        assert found["ratio_p95"][name] > 0
