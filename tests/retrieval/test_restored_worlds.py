"""A world that was restored elsewhere answers all its questions as it did."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from mnestic.activities.clients.token_vectors import TokenVectorEmbedder
from mnestic.starter.client.client_scope import client_caller
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.maintenance.backup_client import BackupClient
from mnestic.stores.postgres.memory import PostgresMemory
from tests.retrieval.conftest import AGENT, World, load

pytestmark = pytest.mark.acceptance  # a world takes seconds to be learned

WORLD = "strangers"
NOW = datetime(2026, 11, 1, tzinfo=UTC)
Answer = list[tuple[str, str, float]]


async def test_a_restored_world_gives_the_same_answers_to_its_questions(
    world_of: Callable[[str], Awaitable[World]],
    new_database: Callable[[], AbstractContextManager[str]],
    admin_url: str,
    tmp_path: Path,
) -> None:
    world = await world_of(WORLD)
    tenant_id = world.client_of().settings.tenant_id
    questions = load(WORLD)["cases"]
    here = BackupClient(admin_url, tmp_path / "backups", tenant_id=tenant_id)
    backup = await here.create(all_tenants=True)

    before = [await answer(world.memory_of(case), case) for case in questions]
    with new_database() as url:
        there = BackupClient(url, tmp_path / "backups", tenant_id=tenant_id)
        await there.restore(backup.manifest.id)
        memory = PostgresMemory(url, pool_size=2, embedder=TokenVectorEmbedder())
        after = [
            await answer(
                MemoryClient(
                    client_caller(
                        memory,
                        tenant_id=f"{tenant_id}{case.get('tenant', '')}",
                        agent_id=case.get("agent", AGENT),
                    ),
                ),
                case,
            )
            for case in questions
        ]
        again = await there.create()
        await memory.close()

    own = {table.name: table.sha256 for table in (await here.create()).manifest.tables}
    logs = {"agent_revision", "audit_log", "memory_retrievals"}  # which questions write
    assert len(questions) >= 50
    assert sum(map(bool, before)) >= 25
    assert after == before
    assert {
        table.name: table.sha256 for table in again.manifest.tables if table.name not in logs
    } == {name: sha256 for name, sha256 in own.items() if name not in logs}


async def answer(memory: MemoryClient, case: dict[str, Any]) -> Answer:
    """What a question finds, by id, text and score; asking leaves no trace in later answers."""
    asked = {"asked_at": NOW, "is_access": False, **case.get("with", {})}
    found = await memory.retrieve(case["ask"], **asked)
    return [(one.entry.id, one.entry.content, one.score) for one in found.results]
