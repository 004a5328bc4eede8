"""Whole jobs on a real Temporal and a real Postgres."""

import asyncio

import pytest

from mnestic.memory.errors import (
    JobFailedError,
    ResumeRefusedError,
    SnapshotUnverifiedError,
)
from mnestic.memory.jobs.agent_job import JobResult
from tests.transactions import Execute
from tests.workflows.conftest import Jobs, plan_of

pytestmark = pytest.mark.usefixtures("worker")
DEAR = {"word": "dear"}


async def test_a_job_whose_working_memory_is_damaged_parks_and_can_be_cancelled(
    jobs: Jobs, execute: Execute
) -> None:
    job_id = await jobs.start_waiting()
    execute("UPDATE mnestic.working_memory SET state = '[]' WHERE tenant_id = %s")

    with pytest.raises(SnapshotUnverifiedError, match="working memory of session s1"):
        await jobs.resume_job(job_id, DEAR)
    parked = await jobs.describe_job(job_id)
    await jobs.cancel_job(job_id)
    with pytest.raises(JobFailedError, match="was cancelled"):
        await jobs.wait_for_result(job_id)

    episodes, _ = await jobs.memory("ada").episodes.list()
    assert parked.state == "needs_attention"
    assert [episode.payload["outcome"] for episode in episodes] == ["cancelled"]


async def test_a_cancellation_beside_a_resume_settles_both(jobs: Jobs) -> None:
    async def settle(number: int) -> None:
        job_id = await jobs.start_waiting(session_id=f"s{number}")
        resumed, _ = await asyncio.gather(
            jobs.resume_job(job_id, DEAR), jobs.cancel_job(job_id), return_exceptions=True
        )
        (ended,) = await asyncio.gather(jobs.wait_for_result(job_id), return_exceptions=True)

        job = await jobs.describe_job(job_id)
        was_refused = isinstance(resumed, ResumeRefusedError)
        assert [wait.state for wait in job.waits] == ["cancelled" if was_refused else "resumed"]
        assert isinstance(ended, JobFailedError | JobResult)
        assert job.state in {"cancelled", "completed"}

    await asyncio.gather(*map(settle, range(4)))


@pytest.mark.parametrize("is_paused", [False, True])
async def test_a_cancelled_job_ends_its_wait_and_leaves_an_episode(
    jobs: Jobs, *, is_paused: bool
) -> None:
    job_id = await jobs.start_waiting()
    if is_paused:
        await jobs.pause(job_id)

    await jobs.cancel_job(job_id)
    with pytest.raises(JobFailedError, match="was cancelled"):
        await jobs.wait_for_result(job_id)

    job = await jobs.describe_job(job_id)
    episodes, _ = await jobs.memory("ada").episodes.list(session_id="s1")
    assert job.state == "cancelled"
    assert [wait.state for wait in job.waits] == ["cancelled"]
    assert [episode.payload["outcome"] for episode in episodes] == ["cancelled"]
    assert "My name is Mara" in episodes[0].summary


async def test_a_failed_job_names_its_node_and_cause_and_leaves_an_episode(jobs: Jobs) -> None:
    node = "{id: bad, kind: tool, activity: no.such, attempts: 1, next: end}"

    with pytest.raises(JobFailedError, match=r"node bad failed: .*no\.such"):
        await jobs.run(f"name: failing\nnodes: [{node}]")

    (episode,), _ = await jobs.memory("ada").episodes.list()
    assert episode.payload["outcome"] == "failed"
    assert "no.such" in episode.summary


async def test_text_of_a_user_is_never_a_template(jobs: Jobs) -> None:
    plan = plan_of("echo")
    told = "${memory.variables.secret} and $${x}"

    await jobs.run(plan, inputs={"text": told})

    assert await jobs.texts() == [f"You said {told}"]


async def test_two_jobs_of_one_session_wait_side_by_side(jobs: Jobs) -> None:
    both = [await jobs.start_waiting(), await jobs.start_waiting()]

    await asyncio.gather(*(jobs.resume_job(job, DEAR) for job in both))
    results = [await jobs.wait_for_result(job) for job in both]

    assert [result.results["approval"]["outcome"] for result in results] == ["resumed"] * 2
    assert len(await jobs.texts()) == 4
