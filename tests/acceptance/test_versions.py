"""Two builds of the worker side by side: each job stays with its build, until it continues as new."""

import asyncio
import sys
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from temporalio.api.enums.v1 import EventType, VersioningBehavior

from mnestic.memory.names import POKE, job_workflow_id
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.deployments import Deployment
from mnestic.starter.jobs.plans import read_plan
from mnestic.starter.settings import Settings

pytestmark = pytest.mark.acceptance

LIMIT_S = 300.0
START_LIMIT = timedelta(seconds=LIMIT_S)
StartBuild = Callable[[str], Any]


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Settings of a deployment that only this test uses."""
    return settings.model_copy(update={"deployment": settings.task_queue})


@pytest.fixture
def start_build(processes: Any, root: Path, settings: Settings) -> Iterator[StartBuild]:
    """Starts the worker of a build, in a process of its own, as a cluster does."""
    started: list[Any] = []
    assert settings.database_url is not None
    environment = {
        "MNESTIC_DATABASE_URL": settings.database_url.get_secret_value(),
        "TEMPORAL_ADDRESS": str(settings.temporal_address),
        "MNESTIC_TASK_QUEUE": settings.task_queue,
        "MNESTIC_TENANT_ID": settings.tenant_id,
        "MNESTIC_DEPLOYMENT": settings.deployment,
    }

    def start(build_id: str) -> Any:
        env = environment | {"MNESTIC_BUILD_ID": build_id}
        started.append(processes.start(sys.executable, root / "worker.py", env=env))
        return started[-1]

    yield start
    for worker in started:
        worker.process.kill()


@pytest.fixture
def deployment(client: MnesticClient) -> Deployment:
    """This test's deployment."""
    address = client.endpoints.temporal_address
    return Deployment(client.temporal, settings=client.settings, address=address)


async def start_waiting(client: MnesticClient, plan: Path) -> str:
    """Starts a job and returns its id once it waits."""
    job_id = await client.start_job(
        read_plan(plan), agent_id="ada", session_id="s1", inputs={"name": "Mara"}
    )
    await until_waits(client, job_id)
    return job_id


async def until_waits(client: MnesticClient, job_id: str) -> None:
    async with asyncio.timeout(LIMIT_S):
        while (job := await client.describe_job(job_id)).state != "waiting":
            assert job.closed_at is None, f"job {job_id} ended as {job.state}"
            await asyncio.sleep(0.05)


def handle_of(client: MnesticClient, job_id: str) -> Any:
    return client.temporal.get_workflow_handle(job_workflow_id(client.settings.tenant_id, job_id))


async def builds_of(client: MnesticClient, job_id: str) -> list[str]:
    """The build that completed each workflow task of a job's latest run, in which all are pinned."""
    history = await handle_of(client, job_id).fetch_history()
    completed = [
        event.workflow_task_completed_event_attributes
        for event in history.events
        if event.event_type == EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED
    ]
    pinned = VersioningBehavior.VERSIONING_BEHAVIOR_PINNED
    assert all(task.versioning_behavior == pinned for task in completed)
    return [task.deployment_version.build_id for task in completed]


async def until_in_another_run(client: MnesticClient, job_id: str, run_id: str | None) -> None:
    """Waits until a job has continued as new, and waits again."""
    async with asyncio.timeout(LIMIT_S):
        while (found := await handle_of(client, job_id).describe()).run_id == run_id:
            assert found.close_time is None
            await asyncio.sleep(0.05)
    await until_waits(client, job_id)


async def test_jobs_stay_with_their_build_and_new_ones_go_to_the_current(
    client: MnesticClient, deployment: Deployment, start_build: StartBuild, plan: Path
) -> None:
    start_build("1")
    await deployment.make_current("1", limit=START_LIMIT)
    first = await start_waiting(client, plan)
    start_build("2")
    await deployment.make_current("2", limit=START_LIMIT)
    second = await start_waiting(client, plan)

    receipts = [await client.resume_job(job, {"word": "dear"}) for job in (first, second)]
    results = [await client.wait_for_result(job) for job in (first, second)]

    assert all(receipts)
    assert [result.waits for result in results] == [1, 1]
    assert set(await builds_of(client, first)) == {"1"}
    assert set(await builds_of(client, second)) == {"2"}


async def test_a_parked_job_that_is_poked_moves_to_the_current_build_with_its_wait(
    client: MnesticClient, deployment: Deployment, start_build: StartBuild, plan: Path
) -> None:
    start_build("1")
    await deployment.make_current("1", limit=START_LIMIT)
    job_id = await start_waiting(client, plan)
    before, run_id = (
        await client.describe_job(job_id),
        (await handle_of(client, job_id).describe()).run_id,
    )
    start_build("2")
    await deployment.make_current("2", limit=START_LIMIT)

    await client.poke_job(job_id)
    await until_in_another_run(client, job_id, run_id)
    after = await client.describe_job(job_id)
    receipt = await client.resume_job(job_id, {"word": "dear"}, wait_id=f"{job_id}/w1")
    result = await client.wait_for_result(job_id)
    moved = (await handle_of(client, job_id).describe()).raw_description.workflow_execution_info

    assert after.deadline == before.deadline
    assert moved.priority.fairness_key == client.settings.tenant_id
    assert [wait.wait_id for wait in after.waits] == [f"{job_id}/w1"]
    assert receipt is not None
    assert result.waits == 1
    assert set(await builds_of(client, job_id)) == {"2"}


async def test_a_job_whose_build_is_gone_is_poked_and_moved(
    client: MnesticClient, deployment: Deployment, start_build: StartBuild, plan: Path
) -> None:
    old = start_build("1")
    await deployment.make_current("1", limit=START_LIMIT)
    job_id = await start_waiting(client, plan)
    run_id = (await handle_of(client, job_id).describe()).run_id
    await asyncio.to_thread(old.stop)
    start_build("2")
    await deployment.make_current("2", limit=START_LIMIT)

    await handle_of(client, job_id).signal(POKE)
    await deployment.move(job_id)
    await until_in_another_run(client, job_id, run_id)
    await client.resume_job(job_id, {"word": "dear"})
    result = await client.wait_for_result(job_id)

    assert result.waits == 1
    assert set(await builds_of(client, job_id)) == {"2"}
