"""Waits of a job whose database is held up for longer than a workflow task may last."""

import psycopg
import pytest

from tests.workflows.conftest import LOOP, Jobs

pytestmark = pytest.mark.acceptance  # it waits for an activity's time limit


@pytest.mark.usefixtures("worker")
async def test_a_wait_is_opened_and_ended_once_by_ordinary_activities_in_their_place(
    admin_url: str, jobs: Jobs
) -> None:
    async with await psycopg.AsyncConnection.connect(admin_url) as connection:
        await connection.execute("LOCK TABLE mnestic.job_wait IN SHARE MODE")
        job_id = await jobs.start(LOOP)
        await jobs.until_at_work(job_id, "mnestic.open_wait")
    await jobs.until_state(job_id, "waiting")
    status = await jobs.status(job_id)
    async with await psycopg.AsyncConnection.connect(admin_url) as connection:
        await connection.execute("LOCK TABLE mnestic.job_wait IN SHARE MODE")
        await jobs.resume_job(job_id, {"text": "last", "last": True}, by="signal", any_wait=True)
        await jobs.until_at_work(job_id, "mnestic.restore")
    result = await jobs.wait_for_result(job_id)

    (wait,) = await jobs.waits(job_id)
    assert status.open_wait is not None
    assert (wait.wait_id, wait.snapshot_id) == (f"{job_id}/w1", status.open_wait.snapshot.id)
    assert (wait.state, result.waits) == ("resumed", 1)
