"""A workflow of one's own that locks what it shares, by `AgentMemory`."""

import asyncio

from temporalio import workflow
from temporalio.worker import Worker

from mnestic.activities.clients.local import LocalChatModel, LocalSummariser
from mnestic.memory.scope import Scope
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.stores.postgres.memory import PostgresMemory
from mnestic.worker import activities_of
from mnestic.workflows.jobs.agent_memory import AgentMemory

SHARED = {
    "enabled": True,
    "namespaces": [{"namespace": "counts", "access_level": "write", "agents_allowed": ["ada"]}],
    "coordination": {"lock_strategy": "pessimistic"},
}


@workflow.defn(name="Counts")
class Counts:
    """Writes under a lock, and after it."""

    @workflow.init
    def __init__(self, scope: Scope) -> None:
        self._memory = AgentMemory(job_id="counts", scope=scope)

    @workflow.run
    async def run(self, scope: Scope) -> list[int | None]:  # noqa: ARG002 - Temporal gives it to both
        lock = await self._memory.lock("counts", "runs", timeout_ms=60_000)
        await self._memory.set_shared("counts", "runs", 1, lock=lock)
        await self._memory.unlock(lock)
        await self._memory.set_shared("counts", "runs", 2)
        await self._memory.get_shared("counts", "runs", save_as="runs")
        return [lock.token, lock.version]


async def test_a_workflow_locks_writes_and_unlocks(
    client: MnesticClient, memory: PostgresMemory
) -> None:
    await client.contracts().apply("ada", {"Memory": {"shared": SHARED}})
    scope = Scope(tenant_id=client.settings.tenant_id, agent_id="ada", session_id="s1")
    activities = activities_of(memory, model=LocalChatModel(), summariser=LocalSummariser())
    queue = client.settings.task_queue

    async with Worker(client.temporal, task_queue=queue, workflows=[Counts], activities=activities):
        token, version = await asyncio.wait_for(
            client.temporal.execute_workflow(
                Counts.run, scope, id=f"job/{scope.tenant_id}/counts", task_queue=queue
            ),
            60,
        )

    saved = (await client.memory("ada").working_memory.get("s1")).variables["runs"]
    assert token
    assert (version, saved["value"], saved["version"]) == (0, 2, 2)
