"""Requests that meet a deadline which passed while no worker was up: what came first counts."""

import pytest

from mnestic.memory.errors import InvalidInputError, ResumeRefusedError
from tests.workflows.conftest import DAY, Jobs, plan_of

pytestmark = pytest.mark.acceptance  # deadlines pass by the clock

TWICE = plan_of("twice")
THRICE = plan_of("thrice")


@pytest.fixture
async def parked(jobs: Jobs) -> str:
    """A job at its first wait, whose worker has gone."""
    async with jobs.worker():
        return await jobs.start_waiting(TWICE)


@pytest.mark.parametrize("named", [True, False])
async def test_a_signal_that_came_before_the_deadline_resumes(jobs: Jobs, *, named: bool) -> None:
    async with jobs.worker():
        job_id = await jobs.start_waiting(TWICE.replace("1d", "6s"))
    wait_id = f"{job_id}/w1" if named else None
    await jobs.signal(job_id, wait_id=wait_id)
    await jobs.until_fired(job_id)
    await jobs.signal(job_id, wait_id=wait_id)

    async with jobs.worker():
        result = await jobs.result(job_id)

    assert (result.waits, result.results["first"]["outcome"]) == (1, "resumed")


async def test_what_names_the_wait_is_refused_after_its_deadline(jobs: Jobs, parked: str) -> None:
    await jobs.pass_deadline(parked)
    await jobs.resume_job(parked, request_id="r1", wait_id=f"{parked}/w1", by="signal")
    resuming = await jobs.resume_ahead(parked, request_id="r2", wait_id=f"{parked}/w1")
    extending = await jobs.ahead(lambda sender: sender.extend_wait(parked, by=7 * DAY))

    async with jobs.worker():
        with pytest.raises(ResumeRefusedError, match=f"wait {parked}/w1 is"):
            await resuming
        with pytest.raises(InvalidInputError, match=f"wait {parked}/w1 is over, its time was up"):
            await extending
        job = await jobs.until_state(parked, "waiting", waits=2)
        status = await jobs.status(parked)

    assert [wait.state for wait in job.waits] == ["timed_out", "waiting"]
    assert status.refused == (f"r1: wait {parked}/w1 is over, its time was up",)


async def test_late_signals_that_name_no_wait_are_kept_for_the_next_ones_in_their_order(
    jobs: Jobs,
) -> None:
    async with jobs.worker():
        job_id = await jobs.start_waiting(THRICE)
    await jobs.pass_deadline(job_id)
    for request_id in ("r1", "r2"):
        await jobs.signal(job_id, request_id)

    async with jobs.worker():
        assert await jobs.resumed_by(job_id) == [None, "r1", "r2"]


@pytest.mark.parametrize("in_new_run", [False, True])
async def test_a_signal_after_the_deadline_of_a_paused_wait_comes_too_late(
    jobs: Jobs, *, in_new_run: bool
) -> None:
    async with jobs.worker():
        job_id = await jobs.start_waiting(TWICE)
        await jobs.pause(job_id)
        if in_new_run:
            await jobs.pass_deadline(job_id)
            await jobs.status(job_id)
            await jobs.signal(job_id, payload="late")
            await jobs.poke(job_id)
    if not in_new_run:
        await jobs.pass_deadline(job_id)
        await jobs.signal(job_id, payload="late")

    async with jobs.worker():
        await jobs.unpause_job(job_id)
        result = await jobs.result(job_id)

    assert result.results["first"]["outcome"] == "timeout"
    assert result.results["second"]["payload"] == "late"
