"""Builds of workers, side by side: which one takes which job."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from typing import Any

import pytest
from temporalio import workflow
from temporalio.client import Client
from temporalio.common import VersioningBehavior, WorkerDeploymentVersion
from temporalio.worker import Worker, WorkerDeploymentConfig

from mnestic.memory.errors import (
    BuildUnavailableError,
    ConfigurationError,
    InvalidInputError,
    NotFoundError,
)
from mnestic.memory.names import AGENT_JOB, job_workflow_id
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.deployments import UNVERSIONED, Deployment, Move
from mnestic.starter.jobs.plans import parse_plan
from mnestic.starter.settings import Settings, load_settings
from mnestic.stores.postgres.memory import PostgresMemory
from tests.job_states import until_state

pytestmark = pytest.mark.acceptance

PLAN = """
name: parked
nodes:
  - {id: word, kind: wait, key: word, timeout: 21d, on: {resumed: end, timeout: end}}
"""

OfBuild = Callable[[str], AbstractAsyncContextManager[None]]
Start = Callable[[], Awaitable[str]]


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Settings of a deployment that only this test uses."""
    return settings.model_copy(update={"deployment": settings.task_queue})


@pytest.fixture
def deployment(client: MnesticClient) -> Deployment:
    """This test's deployment."""
    address = client.endpoints.temporal_address
    return Deployment(client.temporal, settings=client.settings, address=address)


def impatient(client: MnesticClient) -> Deployment:
    """The deployment, to which workers are gone once they do not poll."""
    return Deployment(
        client.temporal,
        settings=client.settings,
        address=client.endpoints.temporal_address,
        polls_within=timedelta(0),
    )


@pytest.fixture
def worker_of(run_worker: Callable[..., AbstractAsyncContextManager[None]]) -> OfBuild:
    """Runs a worker of a build, for as long as a block."""
    return lambda build_id: run_worker(build_id=build_id)


@pytest.fixture
def start(client: MnesticClient) -> Start:
    """Starts a job and returns its id once it is parked."""

    async def start() -> str:
        plan = parse_plan(PLAN, source="test")
        job_id = await client.start_job(plan, agent_id="ada", session_id="s1")
        await until_state(client, job_id)
        return job_id

    return start


async def build_of(client: MnesticClient, job_id: str) -> str:
    """The build that a job is on."""
    workflow_id = job_workflow_id(client.settings.tenant_id, job_id)
    found = await client.temporal.get_workflow_handle(workflow_id).describe()
    info = found.raw_description.workflow_execution_info.versioning_info
    return info.deployment_version.build_id


@workflow.defn(name=AGENT_JOB, sandboxed=False)
class AnotherVersion:
    """The workflow of jobs as another version has it: it begins with a timer."""

    @workflow.run
    async def run(self, asked: dict[str, Any]) -> None:  # noqa: ARG002 - Temporal gives it
        await workflow.sleep(timedelta(days=1))


class Impatient(MnesticClient):
    """A client to which workers are gone once they do not poll."""

    polls_within = timedelta(0)


@pytest.fixture
async def stranded(client: MnesticClient, deployment: Deployment, worker_of: OfBuild) -> str:
    """A job of build 1, of another version, which has no worker any more; build 2 is current."""
    config = client.temporal.config()
    bare = Client(config["service_client"], namespace=config["namespace"])  # without our plugin
    worker = Worker(
        bare,
        task_queue=client.settings.task_queue,
        workflows=[AnotherVersion],
        deployment_config=WorkerDeploymentConfig(
            version=WorkerDeploymentVersion(client.settings.deployment, "1"),
            use_worker_versioning=True,
            default_versioning_behavior=VersioningBehavior.PINNED,
        ),
    )
    async with worker:
        await deployment.make_current("1")
        plan = parse_plan(PLAN, source="test")
        job_id = await client.start_job(plan, agent_id="ada", session_id="s1")
        async with asyncio.timeout(30):
            while await build_of(client, job_id) != "1":  # noqa: ASYNC110 - it is Temporal's
                await asyncio.sleep(0.05)
    async with worker_of("2"):
        await deployment.make_current("2")
    return job_id


async def test_a_poke_changes_nothing_of_a_job_that_does_not_replay_unless_it_is_told_to(
    client: MnesticClient, memory: PostgresMemory, stranded: str
) -> None:
    poking = Impatient(
        client.temporal, memory, settings=client.settings, endpoints=client.endpoints
    )
    handle = client.temporal.get_workflow_handle(
        job_workflow_id(client.settings.tenant_id, stranded)
    )

    why = f"^job {stranded}: is on build 1, which has no worker, and was not moved to build 2: the code .*replay.*"
    with pytest.raises(InvalidInputError, match=f"{why}--build-id 1.*poke {stranded} --untried$"):
        await poking.poke_job(stranded)
    assert await build_of(client, stranded) == "1"
    before = await handle.describe()
    poked = await poking.poke_job(stranded, untried=True)
    after = await handle.describe()

    assert poked.moved == Move(from_build="1", to_build="2")
    assert before.history_length < after.history_length  # the signal, which was not sent before


async def test_a_job_whose_build_has_workers_is_left_with_them(
    deployment: Deployment, worker_of: OfBuild, start: Start
) -> None:
    async with worker_of("1"), worker_of("2"):
        await deployment.make_current("1")
        job_id = await start()
        await deployment.make_current("2")

        move = await deployment.find_move(job_id)

        assert move is None


async def test_a_job_of_workers_without_builds_is_not_moved_but_taken_by_the_first_build(
    client: MnesticClient,
    deployment: Deployment,
    run_worker: Callable[[], AbstractAsyncContextManager[None]],
    worker_of: OfBuild,
    start: Start,
) -> None:
    async with run_worker():
        job_id = await start()

    move = await deployment.find_move(job_id)
    async with worker_of("1"):
        await deployment.make_current("1")
        await client.resume_job(job_id, {})
        await client.wait_for_result(job_id)

    assert move is None
    assert await build_of(client, job_id) == "1"


async def test_new_jobs_and_stranded_ones_go_back_to_workers_without_builds(
    client: MnesticClient,
    deployment: Deployment,
    run_worker: Callable[[], AbstractAsyncContextManager[None]],
    worker_of: OfBuild,
    start: Start,
) -> None:
    later = impatient(client)
    async with worker_of("1"):
        await deployment.make_current("1")
        stranded = await start()
        with pytest.raises(
            BuildUnavailableError, match=r"worker without a build id .*: mnestic worker$"
        ):
            await deployment.make_current(UNVERSIONED, limit=timedelta(0))

    async with run_worker():
        await deployment.make_current(UNVERSIONED)
        await deployment.make_current(UNVERSIONED)
        builds = await deployment.list_builds()
        new = await start()
        move = await later.find_move(stranded)
        await later.move(stranded)
        for job_id in (new, stranded):
            await client.resume_job(job_id, {}, by="signal", any_wait=True)
            async with asyncio.timeout(30):
                await client.wait_for_result(job_id)

    assert move is not None
    assert move.where == "workers without a build id"
    assert [(build.build_id, build.current) for build in builds] == [("1", False)]
    assert await build_of(client, new) == ""


async def test_jobs_stand_still_while_nobody_of_the_current_build_polls(
    client: MnesticClient,
    run_worker: Callable[[], AbstractAsyncContextManager[None]],
    worker_of: OfBuild,
    deployment: Deployment,
) -> None:
    now = impatient(client)
    without = await deployment.find_standstill()
    async with worker_of("1"):
        with pytest.raises(BuildUnavailableError):
            await deployment.make_current("2", limit=timedelta(0))
        before = await deployment.find_standstill()
        await deployment.make_current("1")
        after = await deployment.find_standstill()
    async with run_worker():
        gone = await now.find_standstill()

    told = [error and str(error) for error in (without, before, after, gone)]
    none = "no worker without a build id is ready (none polls); start one: mnestic worker"
    one = "no worker of build 1 is ready (none polls); start one: mnestic worker --build-id 1"
    assert told == [none, none, None, one]


async def test_a_job_or_a_build_that_cannot_be_is_refused(deployment: Deployment) -> None:
    with pytest.raises(NotFoundError, match="no job nonesuch"):
        await deployment.find_move("nonesuch")
    with pytest.raises(NotFoundError, match="no job nonesuch"):
        await deployment.move("nonesuch")
    with pytest.raises(InvalidInputError, match="build id"):
        await deployment.make_current("1' OR '1")


@pytest.mark.parametrize(
    "name", ["MNESTIC_DEPLOYMENT", "MNESTIC_BUILD_ID", "MNESTIC_TENANT_WEIGHT"]
)
def test_a_setting_that_temporal_would_refuse_is_refused_first(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "-.0/")

    with pytest.raises(ConfigurationError, match=name):
        load_settings()
