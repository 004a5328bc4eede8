"""What the senders of refused requests are told, however many or long they are."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from temporalio.client import WorkflowHandle, WorkflowUpdateFailedError, WorkflowUpdateStage

from mnestic.memory.jobs.agent_job import JobStatus
from mnestic.memory.jobs.waits import ResumeReceipt, ResumeRequest
from mnestic.memory.names import RESUME, STATUS
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.jobs.plans import parse_plan

StartWaiting = Callable[..., Awaitable[str]]
Until = Callable[..., Awaitable[Any]]
HandleOf = Callable[[str], WorkflowHandle[Any, Any]]
Poke = Callable[[str], Awaitable[None]]
LATER = """
name: later
nodes:
  - {id: first, kind: tool, activity: none, task_queue: none, queue_timeout: 3s, next: turn, catch: turn}
  - {id: turn, kind: wait, key: turn, timeout: 1d, on: {resumed: next, timeout: next}}
  - {id: next, kind: wait, key: next, timeout: 1d, on: {resumed: end, timeout: end}}
"""


@pytest.mark.usefixtures("worker")
async def test_an_update_hears_its_refusal_after_many_signals_were_refused(
    client: MnesticClient, handle_of: HandleOf, poke: Poke
) -> None:
    plan = parse_plan(LATER, source="test")
    job_id = await client.start_job(plan, agent_id="ada", session_id="s1", job_id="slow")
    handle = handle_of(job_id)
    await handle.signal(RESUME, ResumeRequest(request_id="r1", wait_id="slow/w1"))
    request = ResumeRequest(request_id="u", wait_id="slow/w1")
    update = await handle.start_update(
        RESUME,
        request,
        wait_for_stage=WorkflowUpdateStage.ACCEPTED,
        result_type=ResumeReceipt,
    )

    for number in range(25):
        await handle.signal(RESUME, ResumeRequest(request_id=f"s{number}", wait_id="slow/w1"))

    with pytest.raises(WorkflowUpdateFailedError) as failed:
        await asyncio.wait_for(update.result(), 30)
    assert "resumed by r1" in str(failed.value.cause)
    await poke(job_id)


@pytest.mark.usefixtures("worker")
async def test_long_refusals_are_cut_so_that_the_status_and_a_new_run_hold_them(
    start_waiting: StartWaiting,
    handle_of: HandleOf,
    until: Until,
    poke: Poke,
) -> None:
    async def refused() -> tuple[str, ...] | None:
        told = (await handle_of(job_id).query(STATUS, result_type=JobStatus)).refused
        return told if len(told) == 13 else None

    job_id = await start_waiting()
    for number in range(12):
        request = ResumeRequest(request_id=f"r{number}", outcome="x" * 190_000)
        await handle_of(job_id).signal(RESUME, request)
    await handle_of(job_id).signal(RESUME, ResumeRequest(request_id="y" * 190_000))

    told = await until(refused)
    await poke(job_id)

    assert told[0].startswith(f"r0: wait {job_id}/w1 has no outcome 'xxx")
    assert told[-1].startswith("y" * 256 + "…: ")
    assert max(map(len, told)) < 800
    assert await refused() == told
