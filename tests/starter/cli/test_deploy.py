"""`mnestic deploy`: which build new jobs go to."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.jobs.plans import read_plan
from mnestic.starter.settings import Settings
from tests.starter.cli.conftest import Ask

OfBuild = Callable[[str], AbstractAsyncContextManager[None]]


@pytest.fixture
def worker_of(
    run_worker: Callable[..., AbstractAsyncContextManager[None]],
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
) -> OfBuild:
    """Runs a worker of a build, in a deployment that only this test uses."""
    monkeypatch.setenv("MNESTIC_DEPLOYMENT", settings.task_queue)
    return lambda build_id: run_worker(build_id=build_id, deployment=settings.task_queue)


@pytest.mark.usefixtures("worker_of")
async def test_a_build_without_a_worker_is_not_deployed_and_the_command_says_how_to_start_one(
    ask: Ask,
) -> None:
    told = (await ask("deploy", "7", "--wait", "0.2")).error(code=3)

    assert "no worker of build 7 is ready" in told
    assert "mnestic worker --build-id 7" in told


@pytest.mark.usefixtures("worker_of")
async def test_a_current_build_without_a_worker_is_told_by_doctor_and_by_poke(
    ask: Ask, client: MnesticClient, worker_of: OfBuild, plan: Path
) -> None:
    async with worker_of("1"):  # which is not deployed: jobs go to workers without a build id
        job_id = await client.start_job(
            read_plan(plan), agent_id="ada", session_id="s1", inputs={"name": "Mara"}
        )
        nobody = f"0 poll {client.settings.task_queue}:"
        while nobody in (doctor := await ask("doctor")).out:
            pass
        poked = await ask("job", "poke", job_id)
        document = (await ask("job", "poke", job_id, "--json")).document

    why = "no worker without a build id is ready (none polls); start one: mnestic worker"
    assert doctor.code == 1
    assert why in doctor.out
    assert "mnestic deploy" in doctor.out
    assert f"Until then it does not run: {why}" in poked.out
    assert document == {
        "job_id": job_id,
        "poked": True,
        "moved": None,
        "stands_still": why,
    }


@pytest.mark.acceptance
async def test_a_build_is_deployed_listed_and_left_for_workers_without_builds(
    ask: Ask, worker_of: OfBuild, run_worker: Callable[[], AbstractAsyncContextManager[None]]
) -> None:
    none = await ask("deploy")
    async with worker_of("2026.11"), run_worker():
        deployed = await ask("deploy", "2026.11", "--json")
        listed = await ask("deploy", "--json")
        told = (await ask("deploy", "2026.11")).out
        back = (await ask("deploy", "--unversioned")).out
        left = await ask("deploy", "--json")

    assert "No builds" in none.out
    assert deployed.document == listed.document
    (build,) = listed.document["builds"]
    assert (build["build_id"], build["current"]) == ("2026.11", True)
    assert (build["running_jobs"], build["workers"]) == (0, 1)
    assert "go to build 2026.11 from now on" in told
    assert "current" in told
    assert "go to workers without a build id from now on" in back
    assert "New jobs go to workers without a build id." in back
    assert [one["current"] for one in left.document["builds"]] == [False]
