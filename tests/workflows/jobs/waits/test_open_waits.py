"""Which wait of a job is open, as a client finds it, and which ones it is shown."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from mnestic.memory.errors import InvalidInputError, NotFoundError
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.stores.postgres.memory import PostgresMemory
from tests.workflows.conftest import LOOP, Jobs


@pytest.fixture
async def without_postgres(client: MnesticClient) -> AsyncIterator[MnesticClient]:
    """A client whose Postgres does not answer."""
    memory = PostgresMemory("postgresql://app@127.0.0.1:9/mnestic", pool_size=1)
    endpoints, settings = client.endpoints, client.settings
    yield MnesticClient(client.temporal, memory, settings=settings, endpoints=endpoints)
    await memory.close()


async def test_requests_that_are_left_with_temporal_are_for_the_wait_that_was_open_then(
    without_postgres: MnesticClient, jobs: Jobs
) -> None:
    async with jobs.worker():
        job_id = await jobs.start_waiting(LOOP)
    text, limit = {"text": "a", "last": False}, timedelta(seconds=1)
    await jobs.resume_job(job_id, text, request_id="r1", by="signal", any_wait=True)
    receipts = [
        await sender.resume_job(job_id, text, request_id=request_id, limit=limit)
        for sender, request_id in ((jobs, "r2"), (without_postgres, "r3"))
    ]

    async with jobs.worker():
        await jobs.until_state(job_id, "waiting", waits=2)
        status = await jobs.status(job_id)
    wait = await jobs.find_open_wait(job_id)

    assert receipts == [None, None]
    assert wait is not None
    assert wait.wait_id == f"{job_id}/w2"
    assert [told.partition(" is")[0] for told in status.refused] == [
        f"{request_id}: wait {job_id}/w1" for request_id in ("r2", "r3")
    ]


async def test_a_job_that_does_not_wait_or_was_terminated_has_no_open_wait(jobs: Jobs) -> None:
    job_id = await jobs.start()
    before = await jobs.find_open_wait(job_id)
    async with jobs.worker():
        await jobs.until_state(job_id, "waiting")

    await jobs.handle(job_id).terminate()

    assert (before, await jobs.find_open_wait(job_id)) == (None, None)
    with pytest.raises(NotFoundError, match="job nobody"):
        await jobs.find_open_wait("nobody")


async def test_a_signal_names_its_wait_or_says_that_any_may_have_it(jobs: Jobs) -> None:
    job_id = await jobs.start(LOOP)
    answer = {"text": "a", "last": True}

    with pytest.raises(
        InvalidInputError, match=r"^wait_id: is missing, .*name the wait, or set any_wait"
    ):
        await jobs.resume_job(job_id, answer, by="signal")
    await jobs.resume_job(job_id, answer, by="signal", any_wait=True)

    async with jobs.worker():
        assert (await jobs.wait_for_result(job_id)).waits == 1
