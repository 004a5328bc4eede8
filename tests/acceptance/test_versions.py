"""Two builds of the worker side by side: each job stays with its build, until it continues as new."""

import asyncio
import sys
from collections.abc import Callable
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
from tests.job_states import until_state

pytestmark = pytest.mark.acceptance

LIMIT_S = 300.0
START_LIMIT = timedelta(seconds=LIMIT_S)
StartBuild = Callable[[str], Any]


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Settings of a deployment that only this test uses."""
    return settings.model_copy(update={"deployment": settings.task_queue})


@pytest.fixture
def start_build(
    processes: Any, root: Path, settings: Settings, environment: dict[str, str]
) -> StartBuild:
    """Starts the worker of a build, in a process of its own, as a cluster does."""

    def start(build_id: str) -> Any:
        env = {"MNESTIC_DEPLOYMENT": settings.deployment, "MNESTIC_BUILD_ID": build_id}
        return processes.start(sys.executable, root / "worker.py", env=environment | env)

    return start


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
    await until_state(client, job_id, limit_s=LIMIT_S)
    return job_id


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


async def run_of(client: MnesticClient, job_id: str) -> str | None:
    """The latest run of a job."""
    run_id: str | None = (await handle_of(client, job_id).describe()).run_id
    return run_id


async def until_in_another_run(client: MnesticClient, job_id: str, run_id: str | None) -> None:
    """Waits until a job has continued as new, and waits again."""
    async with asyncio.timeout(LIMIT_S):
        while await run_of(client, job_id) == run_id:  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.05)
    await until_state(client, job_id, limit_s=LIMIT_S)


async def test_jobs_stay_with_their_build_until_they_are_poked_and_moved(
    client: MnesticClient, deployment: Deployment, start_build: StartBuild, plan: Path
) -> None:
    old = start_build("1")
    await deployment.make_current("1", limit=START_LIMIT)
    stays, poked, orphan = [await start_waiting(client, plan) for _ in range(3)]
    before = await client.describe_job(poked)
    runs = {job: await run_of(client, job) for job in (poked, orphan)}
    start_build("2")
    await deployment.make_current("2", limit=START_LIMIT)
    new = await start_waiting(client, plan)

    await client.poke_job(poked)
    await until_in_another_run(client, poked, runs[poked])
    after = await client.describe_job(poked)
    await client.resume_job(poked, {"word": "dear"}, wait_id=f"{poked}/w1")
    for job in (stays, new):
        await client.resume_job(job, {"word": "dear"})
    results = [await client.wait_for_result(job) for job in (stays, poked, new)]
    moved = (await handle_of(client, poked).describe()).raw_description.workflow_execution_info
    await asyncio.to_thread(old.stop)
    await handle_of(client, orphan).signal(POKE)
    await deployment.move(orphan)
    await until_in_another_run(client, orphan, runs[orphan])
    await client.resume_job(orphan, {"word": "dear"})
    results.append(await client.wait_for_result(orphan))

    assert [result.waits for result in results] == [1] * 4
    assert set(await builds_of(client, stays)) == {"1"}
    assert [set(await builds_of(client, job)) for job in (poked, orphan, new)] == [{"2"}] * 3
    assert after.deadline == before.deadline
    assert [wait.wait_id for wait in after.waits] == [f"{poked}/w1"]
    assert moved.priority.fairness_key == client.settings.tenant_id
