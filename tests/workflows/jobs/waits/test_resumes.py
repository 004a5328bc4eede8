"""Who resumes a waiting job, and what each sender hears."""

import asyncio
import gc
from datetime import timedelta
from typing import Any

import psycopg
import pytest

from mnestic.memory.errors import ResumeRefusedError
from mnestic.memory.jobs.waits import Override
from tests.activities.locks import until_held_up
from tests.workflows.conftest import DAY, GREETING, LOOP, RECHECK, Jobs

DEAR = {"word": "dear"}
SHORT = timedelta(seconds=1)


@pytest.mark.usefixtures("worker")
async def test_a_request_sent_three_times_resumes_once_and_another_one_comes_too_late(
    jobs: Jobs,
) -> None:
    job_id = await jobs.start_waiting()

    receipts = await asyncio.gather(
        *(jobs.resume_job(job_id, DEAR, request_id="r1") for _ in range(3))
    )
    await jobs.wait_for_result(job_id)
    late = await jobs.resume_job(job_id, DEAR, request_id="r1")
    with pytest.raises(ResumeRefusedError, match="it is over"):
        await jobs.resume_job(job_id, DEAR, request_id="r2")
    for by in ("update", "signal"):
        with pytest.raises(ResumeRefusedError, match=r"r1 has resumed wait .* with another answer"):
            await jobs.resume_job(job_id, {"word": "other"}, request_id="r1", by=by, any_wait=True)

    assert {receipt.wait_id for receipt in [*receipts, late] if receipt} == {f"{job_id}/w1"}
    assert len(set(receipts) | {late}) == 1
    assert await jobs.resumed_by(job_id) == ["r1"]


@pytest.mark.usefixtures("worker")
async def test_a_wait_ends_at_its_deadline(jobs: Jobs) -> None:
    result = await jobs.run(GREETING.replace("21d", "1s"))

    assert result.results["approval"]["outcome"] == "timeout"
    assert [wait.state for wait in await jobs.waits(result.job_id)] == ["timed_out"]


@pytest.mark.parametrize("named", [True, False])
async def test_a_signal_that_came_before_the_wait_is_kept_for_it(
    jobs: Jobs, *, named: bool
) -> None:
    job_id = await jobs.start()
    waits = {"r2": f"{job_id}/w2", "r1": f"{job_id}/w1" if named else None}  # w2 is not the next

    for request_id, wait_id in waits.items():
        payload = {"word": request_id}
        await jobs.resume_job(
            job_id, payload, request_id=request_id, wait_id=wait_id, by="signal", any_wait=True
        )
    async with jobs.worker():
        result = await jobs.wait_for_result(job_id)

    assert result.results["approval"]["payload"] == {"word": "r1"}


async def test_without_a_worker_a_duplicate_gets_its_receipt_and_a_new_request_is_left_behind(
    jobs: Jobs,
) -> None:
    text, last = {"text": "a", "last": False}, {"text": "b", "last": True}
    async with jobs.worker():
        job_id = await jobs.start_waiting(LOOP)
        first = await jobs.resume_job(job_id, text, request_id="r1")
        await jobs.until_state(job_id, "waiting", waits=2)

    again = await jobs.resume_job(job_id, text, request_id="r1", limit=SHORT)
    receipt = await jobs.resume_job(job_id, last, request_id="r2", limit=SHORT)
    async with jobs.worker():
        await jobs.wait_for_result(job_id)
    late = await jobs.resume_job(job_id, last, request_id="r2")

    assert first is not None
    assert (again, receipt) == (first, None)
    assert late is not None
    assert late.wait_id == f"{job_id}/w2"


@pytest.mark.usefixtures("worker")
async def test_an_update_that_comes_while_the_wait_is_opened_resumes(jobs: Jobs) -> None:
    async def resumed(number: int) -> bool:
        job_id = await jobs.start(session_id=f"s{number}")
        await jobs.until(lambda: jobs.waits(job_id))  # its row is there
        receipt = await jobs.resume_job(job_id, DEAR)
        return receipt is not None and receipt.wait_id == f"{job_id}/w1"

    assert all(await asyncio.gather(*map(resumed, range(5))))


async def test_a_sender_that_gives_up_leaves_no_error_behind(jobs: Jobs) -> None:
    async with jobs.worker():
        job_id = await jobs.start_waiting()
    told: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(context))

    sending = await jobs.resume_ahead(job_id, DEAR)
    sending.cancel()
    await asyncio.wait({sending})
    cancelled = sending.cancelled()
    del sending
    gc.collect()

    assert cancelled
    assert told == []


async def test_an_update_under_the_id_of_a_kept_signal_hears_of_no_earlier_refusal(
    jobs: Jobs,
) -> None:
    async with jobs.worker():
        job_id = await jobs.start_waiting(LOOP)
    payload = {"text": "r2", "last": True}
    await jobs.resume_job(
        job_id, payload, request_id="r2", outcome="maybe", by="signal", any_wait=True
    )
    await jobs.resume_job(
        job_id, {"text": "r1", "last": False}, request_id="r1", by="signal", any_wait=True
    )
    await jobs.resume_job(job_id, payload, request_id="r2", by="signal", any_wait=True)

    updating = await jobs.resume_ahead(job_id, payload, request_id="r2")
    async with jobs.worker():
        receipt = await updating

    assert receipt.wait_id == f"{job_id}/w2"


@pytest.mark.usefixtures("worker")
async def test_an_override_that_is_signalled_while_a_restore_fails_is_taken_after_it(
    admin_url: str, jobs: Jobs
) -> None:
    job_id = await jobs.start_waiting(RECHECK.replace("rebase", "strict"))
    await jobs.memory("ada").records.set("order", "price", 12)
    override = Override(reason="agreed")

    async with await psycopg.AsyncConnection.connect(admin_url) as connection:
        await connection.execute("SELECT * FROM mnestic.working_memory FOR UPDATE")
        resuming = asyncio.create_task(jobs.resume_job(job_id, request_id="r1"))

        await until_held_up(admin_url)
        await jobs.signal(job_id, "r2", override=override)
        await jobs.until_at_work(job_id)

    with pytest.raises(ResumeRefusedError, match="order/price changed"):
        await resuming

    assert await jobs.resumed_by(job_id) == ["r2"]
    (wait,) = await jobs.waits(job_id)
    assert wait.receipt is not None
    assert wait.receipt.override == override


@pytest.mark.usefixtures("worker")
async def test_a_resume_does_not_wait_for_a_new_run_that_waits_for_it(
    admin_url: str, jobs: Jobs
) -> None:
    job_id = await jobs.start_waiting()
    handle = jobs.handle(job_id)

    async def are_both_accepted() -> bool:
        told = "workflow_execution_update_accepted_event_attributes"
        events = [event async for event in handle.fetch_history_events()]
        return sum(event.HasField(told) for event in events) == 2

    async with await psycopg.AsyncConnection.connect(admin_url) as connection:
        await connection.execute("SELECT * FROM mnestic.job_wait FOR UPDATE")
        extending = asyncio.create_task(jobs.extend_wait(job_id, by=DAY))
        await jobs.until_at_work(job_id)
        await jobs.poke_job(job_id)
        resuming = asyncio.create_task(jobs.resume_job(job_id, DEAR))
        await jobs.until(are_both_accepted)
    await extending
    async with asyncio.timeout(5):  # a new run is put off for 10 seconds at most
        receipt = await resuming

    assert receipt is not None
