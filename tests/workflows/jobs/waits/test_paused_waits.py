"""A deadline that passes, or is moved, while the job is paused at its wait, or its extension is written."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import psycopg
import pytest

from mnestic.memory.errors import InvalidInputError
from tests.workflows.conftest import DAY, Jobs, plan_of

# Deadlines pass by the clock.
pytestmark = [pytest.mark.acceptance, pytest.mark.usefixtures("worker")]
Extending = Callable[[str], AbstractAsyncContextManager[None]]
TWICE = plan_of("twice_paused_waits")


@pytest.fixture
async def paused(jobs: Jobs) -> str:
    """A job that is paused at its first wait, whose deadline is soon."""
    job_id = await jobs.start_waiting(TWICE)
    await jobs.pause(job_id)
    return job_id


async def is_up(jobs: Jobs, job_id: str) -> None:
    """Waits until a timer of a job has fired, and the job has taken note of it."""
    await jobs.until_fired(job_id)
    await jobs.status(job_id)


@pytest.fixture
def extending(admin_url: str, jobs: Jobs) -> Extending:
    """Has the extension of a job's first wait by a day written for as long as a block."""

    @asynccontextmanager
    async def extend(job_id: str) -> AsyncIterator[None]:
        row = "SELECT 1 FROM mnestic.job_wait WHERE wait_id = %s FOR UPDATE"
        async with await psycopg.AsyncConnection.connect(admin_url) as held:
            await held.execute(row, [f"{job_id}/w1"])
            extension = asyncio.create_task(jobs.extend_wait(job_id, by=DAY))
            await jobs.until_at_work(job_id, "mnestic.extend_wait")
            yield
        await extension

    return extend


async def test_a_deadline_that_has_passed_is_not_moved(jobs: Jobs, paused: str) -> None:
    await is_up(jobs, paused)

    why = f"wait {paused}/w1 is (just ending|over, its time was up)"
    with pytest.raises(InvalidInputError, match=why):
        await jobs.extend_wait(paused, by=DAY)

    (wait,) = await jobs.waits(paused)
    assert wait.deadline - wait.opened_at < DAY / 2


@pytest.mark.parametrize("is_paused", [True, False])
async def test_a_request_that_comes_while_a_later_deadline_is_written_resumes_the_wait(
    jobs: Jobs, extending: Extending, *, is_paused: bool
) -> None:
    job_id = await jobs.start_waiting(TWICE)
    if is_paused:
        await jobs.pause(job_id)

    async with extending(job_id):
        await is_up(jobs, job_id)
        await jobs.signal(job_id, payload="in time", wait_id=f"{job_id}/w1")
        await is_up(jobs, job_id)
    await jobs.unpause_job(job_id)
    result = await jobs.result(job_id)

    assert result.waits == 1
    assert result.results["first"]["payload"] == "in time"


async def test_a_paused_wait_that_got_a_later_deadline_at_its_last_moment_may_get_another(
    jobs: Jobs, extending: Extending, paused: str
) -> None:
    async with extending(paused):
        await is_up(jobs, paused)

    extended = await jobs.extend_wait(paused, by=2 * DAY)

    (wait,) = await jobs.waits(paused)
    assert wait.deadline == extended.deadline
