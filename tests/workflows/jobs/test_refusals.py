"""What the senders of refused requests are told, however many or long they are."""

import asyncio

import pytest
from temporalio.client import WorkflowUpdateFailedError, WorkflowUpdateStage

from mnestic.memory.jobs.waits import ResumeReceipt, ResumeRequest
from mnestic.memory.names import RESUME
from tests.workflows.conftest import Jobs, plan_of

pytestmark = pytest.mark.usefixtures("worker")
LATER = plan_of("later")


async def test_an_update_hears_its_refusal_after_many_signals_were_refused(jobs: Jobs) -> None:
    job_id = await jobs.start(LATER, job_id="slow")
    await jobs.signal(job_id, wait_id="slow/w1")
    update = await jobs.handle(job_id).start_update(
        RESUME,
        ResumeRequest(request_id="u", wait_id="slow/w1"),
        wait_for_stage=WorkflowUpdateStage.ACCEPTED,
        result_type=ResumeReceipt,
    )

    for number in range(25):
        await jobs.signal(job_id, f"s{number}", wait_id="slow/w1")

    with pytest.raises(WorkflowUpdateFailedError) as failed:
        await asyncio.wait_for(update.result(), 30)
    assert "resumed by r1" in str(failed.value.cause)
    await jobs.poke(job_id)


async def test_long_refusals_are_cut_so_that_the_status_and_a_new_run_hold_them(jobs: Jobs) -> None:
    async def refused() -> tuple[str, ...] | None:
        told = (await jobs.status(job_id)).refused
        return told if len(told) == 13 else None

    job_id = await jobs.start_waiting()
    for number in range(12):
        await jobs.signal(job_id, f"r{number}", outcome="x" * 190_000)
    await jobs.handle(job_id).signal(RESUME, ResumeRequest(request_id="y" * 190_000))

    told = await jobs.until(refused)
    await jobs.poke(job_id)

    assert told[0].startswith(f"r0: wait {job_id}/w1 has no outcome 'xxx")
    assert told[-1].startswith("y" * 256 + "…: ")
    assert max(map(len, told)) < 800
    assert await refused() == told
