"""`job show` and `doctor` tell when no running worker can take a job, with what to do."""

import json
import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

import pytest

from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.deployments import Deployment
from mnestic.starter.settings import Settings
from tests.job_states import until_state
from tests.starter.cli.conftest import Ask

RunWorker = Callable[..., AbstractAsyncContextManager[None]]


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Settings of a deployment that only this test uses."""
    return settings.model_copy(update={"deployment": settings.task_queue})


async def test_a_job_that_no_running_worker_can_take_is_reported(
    ask: Ask,
    start: tuple[str, ...],
    client: MnesticClient,
    run_worker: RunWorker,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MNESTIC_DEPLOYMENT", client.settings.deployment)
    address = client.endpoints.temporal_address
    deployment = Deployment(client.temporal, settings=client.settings, address=address)
    job_id = (await ask(*start, "--json")).document["job_id"]
    unserved = await ask("job", "show", job_id)

    async with run_worker(build_id="1"):
        await deployment.make_current("1")
        await until_state(client, job_id)
        served = await ask("job", "show", job_id)
    queue = f"{client.settings.task_queue}-2"  # on the first, the worker that has ended is listed for a while
    monkeypatch.setenv("MNESTIC_TASK_QUEUE", queue)
    async with run_worker(build_id="2", task_queue=queue):
        stranded = await ask("job", "show", job_id)
        found, deadline = "", time.monotonic() + 30
        while "jobs run on" not in found:  # the visibility store counts them
            assert time.monotonic() < deadline, found
            checks = json.loads((await ask("doctor", "--json")).out)["checks"]
            (workers,) = [check for check in checks if check["part"] == "workers"]
            found = workers["found"]

    why = "no worker {} is ready (none polls); start one: mnestic worker"
    assert f"Stands still: {why.format('without a build id')}\n" in unserved.out
    assert "Stands still" not in served.out
    told = f"{why.format('of build 1')} --build-id 1, or move the job: mnestic job poke {job_id}"
    assert f"Stands still: {told}\n" in stranded.out
    assert not workers["ok"]
    assert "no worker of build 1 polls, which jobs run on" in found
    assert "mnestic job poke" in workers["remedy"]
