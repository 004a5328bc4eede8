"""What a lost attempt had committed: the workflow finds it, and the first commit stands.

A local activity's result is lost when its worker dies before the workflow task ends. Here the activity
is run as such an attempt would, under the wait's key, before the workflow asks.
"""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import pytest
from temporalio.testing import ActivityEnvironment

from mnestic.activities.jobs.waits import RestoreInput, WaitActivities
from mnestic.memory.errors import InvalidInputError, ResumeRefusedError
from mnestic.memory.jobs.waits import Restored, ResumeRequest
from mnestic.memory.names import wait_operation_key
from mnestic.memory.operations import Operation
from mnestic.memory.ports import Memory
from mnestic.stores.postgres.jobs.recalls import ScopeRetriever
from tests.workflows.conftest import DAY, LOOP, Jobs

Lose = Callable[..., Awaitable[Restored]]
FIRST = {"text": "first", "last": False}
LAST = {"text": "second", "last": True}


@pytest.fixture
def lose(memory: Memory, jobs: Jobs) -> Lose:
    """Restores a job's open wait as an attempt that is lost."""

    async def restore(job_id: str, payload: Any, *, request_id: str | None = "r1") -> Restored:
        status = await jobs.status(job_id)
        assert status.open_wait is not None
        wait = status.open_wait
        asked = RestoreInput(
            scope=status.scope,
            operation=Operation(
                key=wait_operation_key(wait.wait_id, "restore"),
                name="restore",
                job_id=job_id,
                chain=(await jobs.handle(job_id).describe()).run_id,
            ),
            wait=wait,
            request=ResumeRequest(request_id=request_id, payload=payload) if request_id else None,
            restored_at=wait.snapshot.snapshot_at + timedelta(seconds=1),
        )
        return await ActivityEnvironment().run(
            WaitActivities(memory, ScopeRetriever()).restore, asked
        )

    return restore


@pytest.mark.usefixtures("worker")
@pytest.mark.parametrize("in_new_run", [False, True])
async def test_an_update_that_comes_after_a_lost_resume_is_refused_and_the_first_one_stands(
    jobs: Jobs, lose: Lose, *, in_new_run: bool
) -> None:
    job_id = await jobs.start_waiting()
    restored = await lose(job_id, {"word": "first"})
    if in_new_run:
        await jobs.poke(job_id)

    with pytest.raises(ResumeRefusedError, match="was resumed by r1"):
        await jobs.resume_job(job_id, {"word": "second"}, request_id="r2")
    result = await jobs.wait_for_result(job_id)
    first = await jobs.resume_job(job_id, {"word": "first"}, request_id="r1")

    assert result.results["approval"]["payload"] == {"word": "first"}
    assert first == restored.receipt


@pytest.mark.usefixtures("worker")
async def test_a_request_that_lost_to_another_may_resume_the_next_wait(
    jobs: Jobs, lose: Lose
) -> None:
    job_id = await jobs.start_waiting(LOOP)
    await lose(job_id, FIRST)
    with pytest.raises(ResumeRefusedError, match="was resumed by r1"):
        await jobs.resume_job(job_id, LAST, request_id="r2", wait_id=f"{job_id}/w1")

    await jobs.until_state(job_id, "waiting", waits=2)
    await jobs.resume_job(job_id, LAST, request_id="r2")

    assert await jobs.resumed_by(job_id) == ["r1", "r2"]
    assert await jobs.texts() == ["first", "second"]


async def test_signals_that_come_after_a_lost_resume_are_taken_in_their_order(
    jobs: Jobs, lose: Lose
) -> None:
    async with jobs.worker():
        job_id = await jobs.start_waiting(LOOP)
        await lose(job_id, FIRST)
    for request_id, payload in (("r2", {"text": "next", "last": False}), ("r3", LAST)):
        await jobs.signal(job_id, request_id, payload=payload)

    async with jobs.worker():
        assert await jobs.resumed_by(job_id) == ["r1", "r2", "r3"]

    assert await jobs.texts() == ["first", "next", "second"]


@pytest.mark.usefixtures("worker")
async def test_a_signal_for_a_wait_that_a_lost_resume_ended_is_told_as_refused(
    jobs: Jobs, lose: Lose
) -> None:
    job_id = await jobs.start_waiting(LOOP)
    await lose(job_id, FIRST)

    await jobs.resume_job(job_id, LAST, request_id="r2", wait_id=f"{job_id}/w1", by="signal")
    await jobs.until_state(job_id, "waiting", waits=2)
    status = await jobs.status(job_id)

    assert status.refused == (f"r2: wait {job_id}/w1 was resumed by r1",)
    assert await jobs.texts() == ["first"]


@pytest.mark.usefixtures("worker")
async def test_a_resume_that_comes_after_a_lost_timeout_comes_too_late(
    jobs: Jobs, lose: Lose
) -> None:
    job_id = await jobs.start_waiting()
    await lose(job_id, None, request_id=None)

    with pytest.raises(ResumeRefusedError, match="its time was up"):
        await jobs.resume_job(job_id, {"word": "late"})
    result = await jobs.wait_for_result(job_id)

    assert result.results["approval"]["outcome"] == "timeout"
    assert [wait.state for wait in await jobs.waits(job_id)] == ["timed_out"]


@pytest.mark.usefixtures("worker")
async def test_a_wait_that_a_lost_resume_ended_is_not_extended_and_not_cancelled_with_its_job(
    jobs: Jobs, lose: Lose
) -> None:
    job_id = await jobs.start_waiting()
    restored = await lose(job_id, {"word": "first"})

    with pytest.raises(InvalidInputError, match=f"wait {job_id}/w1 is over"):
        await jobs.extend_wait(job_id, by=DAY)
    await jobs.cancel_job(job_id)
    await asyncio.gather(jobs.wait_for_result(job_id), return_exceptions=True)
    first = await jobs.resume_job(job_id, {"word": "first"}, request_id="r1")

    assert first == restored.receipt
    assert [wait.state for wait in await jobs.waits(job_id)] == ["resumed"]
