"""Which of the jobs that queue for a worker get one: by priority, and in turns between tenants."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import pytest
from temporalio.worker import Worker

from mnestic.activities.clients.local import LocalChatModel, LocalSummariser
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.names import job_workflow_id
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.jobs.plans import parse_plan
from mnestic.starter.jobs.priorities import priority_of
from mnestic.stores.postgres.memory import PostgresMemory
from mnestic.worker import activities_of

pytestmark = pytest.mark.acceptance

NOTE = """
name: note
nodes:
  - {id: note, kind: remember, note: "noted", next: end}
"""
MANY, FEW = 40, 5
SOON = 20  # without turns and priorities, the few that came last would be the last

OneAtATime = Callable[[], AbstractAsyncContextManager[None]]


@pytest.fixture
def one_at_a_time(client: MnesticClient, memory: PostgresMemory) -> OneAtATime:
    """Runs a worker that has room for one activity."""

    @asynccontextmanager
    async def run() -> AsyncIterator[None]:
        activities = activities_of(memory, model=LocalChatModel(), summariser=LocalSummariser())
        queue = client.settings.task_queue
        async with Worker(
            client.temporal, task_queue=queue, activities=activities, max_concurrent_activities=1
        ):
            yield

    return run


async def start(client: MnesticClient, count: int, *, priority: int | None = None) -> list[str]:
    """Starts jobs, one after the other; returns their workflow ids."""
    plan = parse_plan(NOTE, source="test")
    ids = [
        await client.start_job(plan, agent_id="ada", session_id=f"s{n}", priority=priority)
        for n in range(count)
    ]
    return [job_workflow_id(client.settings.tenant_id, job_id) for job_id in ids]


async def in_order(client: MnesticClient, ids: list[str]) -> list[str]:
    """The workflows in the order in which they ended."""
    handles = [client.temporal.get_workflow_handle(workflow_id) for workflow_id in ids]
    async with asyncio.timeout(120):
        await asyncio.gather(*(handle.result() for handle in handles))
    ended = {handle.id: (await handle.describe()).close_time for handle in handles}
    return sorted(ended, key=lambda workflow_id: str(ended[workflow_id]))


async def test_an_urgent_job_and_another_tenant_overtake_a_backlog(
    client: MnesticClient, one_at_a_time: OneAtATime
) -> None:
    settings = client.settings.model_copy(update={"tenant_id": f"{client.settings.tenant_id}-b"})
    many = await start(client, MANY, priority=5)
    urgent = await start(client, FEW, priority=1)
    async with await MnesticClient.connect(settings) as other:
        few = await start(other, FEW, priority=5)

    async with one_at_a_time():
        ended = await in_order(client, many + urgent + few)

    assert max(ended.index(workflow_id) for workflow_id in urgent) < SOON
    assert max(ended.index(workflow_id) for workflow_id in few) < SOON + FEW


async def test_a_job_carries_its_priority_its_tenant_and_its_weight(client: MnesticClient) -> None:
    settings = client.settings.model_copy(update={"tenant_weight": 2.5})

    async with await MnesticClient.connect(settings) as heavy:
        [workflow_id] = await start(heavy, 1, priority=2)

    found = await client.temporal.get_workflow_handle(workflow_id).describe()
    priority = found.raw_description.workflow_execution_info.priority
    assert (priority.priority_key, priority.fairness_key) == (2, settings.tenant_id)
    assert priority.fairness_weight == 2.5


@pytest.mark.parametrize("level", [0, 6])
async def test_a_priority_that_is_none_is_refused_and_nothing_starts(
    client: MnesticClient, level: int
) -> None:
    plan = parse_plan(NOTE, source="test")

    with pytest.raises(InvalidInputError, match=f"priority: must be from 1.* to 5, not {level}"):
        await client.start_job(plan, agent_id="ada", session_id="s1", priority=level)


def test_long_tenant_ids_keep_keys_of_their_own_that_are_no_tenants_id() -> None:
    long = [f"{'t' * 127}{last}" for last in "ab"]

    keys = [
        priority_of(tenant_id=tenant_id, level=None, weight=None).fairness_key
        for tenant_id in ("t" * 64, *long)
    ]

    assert keys[0] == "t" * 64
    assert len(set(keys)) == 3
    assert all(key is not None and len(key.encode()) <= 64 for key in keys)
    assert all("~" in str(key) for key in keys[1:])
