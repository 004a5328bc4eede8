"""Requests that meet a deadline which passed while no worker was up: what came first counts."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from typing import Any

import pytest
from temporalio.client import WorkflowHandle
from temporalio.testing import TimeSkipper

from mnestic.memory.errors import InvalidInputError, ResumeRefusedError
from mnestic.memory.jobs.agent_job import JobResult, JobStatus
from mnestic.memory.jobs.waits import ResumeRequest
from mnestic.memory.names import RESUME, STATUS
from mnestic.starter.client.mnestic_client import MnesticClient

pytestmark = pytest.mark.acceptance  # deadlines pass by the clock

StartWaiting = Callable[..., Awaitable[str]]
Until = Callable[..., Awaitable[Any]]
HandleOf = Callable[[str], WorkflowHandle[Any, Any]]
RunWorker = Callable[[], AbstractAsyncContextManager[None]]
PassDeadline = Callable[[str], Awaitable[None]]
TWICE = """
name: twice
nodes:
  - {id: first, kind: wait, key: first, timeout: 1d, on: {resumed: end, timeout: second}}
  - {id: second, kind: wait, key: second, timeout: 21d, on: {resumed: end, timeout: end}}
"""
THRICE = """
name: thrice
nodes:
  - {id: first, kind: wait, key: first, timeout: 1d, on: {resumed: second, timeout: second}}
  - {id: second, kind: wait, key: second, timeout: 21d, on: {resumed: third, timeout: third}}
  - {id: third, kind: wait, key: third, timeout: 21d, on: {resumed: end, timeout: end}}
"""


@pytest.fixture
async def parked(run_worker: RunWorker, start_waiting: StartWaiting) -> str:
    """A job at its first wait, whose worker has gone."""
    async with run_worker():
        return await start_waiting(TWICE)


async def ended(client: MnesticClient, job_id: str) -> JobResult:
    async with asyncio.timeout(30):
        return await client.wait_for_result(job_id)


@pytest.mark.parametrize("named", [True, False])
async def test_a_signal_that_came_before_the_deadline_resumes(
    client: MnesticClient,
    run_worker: RunWorker,
    handle_of: HandleOf,
    start_waiting: StartWaiting,
    until_fired: PassDeadline,
    *,
    named: bool,
) -> None:
    async with run_worker():
        job_id = await start_waiting(TWICE.replace("1d", "6s"))
    wait_id = f"{job_id}/w1" if named else None
    await handle_of(job_id).signal(RESUME, ResumeRequest(request_id="r1", wait_id=wait_id))
    await until_fired(job_id)
    await handle_of(job_id).signal(RESUME, ResumeRequest(request_id="r1", wait_id=wait_id))

    async with run_worker():
        result = await ended(client, job_id)

    assert (result.waits, result.results["first"]["outcome"]) == (1, "resumed")


async def test_a_signal_that_came_after_the_deadline_is_refused(
    client: MnesticClient,
    run_worker: RunWorker,
    handle_of: HandleOf,
    until_state: Callable[[str, str], Awaitable[Any]],
    until: Until,
    parked: str,
    pass_deadline: PassDeadline,
) -> None:
    async def waits_again() -> bool:
        return len((await client.describe_job(parked)).waits) == 2

    await pass_deadline(parked)
    await client.resume_job(parked, request_id="r1", wait_id=f"{parked}/w1", by="signal")

    async with run_worker():
        await until(waits_again)
        job = await until_state(parked, "waiting")
        status = await handle_of(parked).query(STATUS, result_type=JobStatus)

    assert [wait.state for wait in job.waits] == ["timed_out", "waiting"]
    assert status.refused == (f"r1: wait {parked}/w1 is over, its time was up",)


async def test_a_late_signal_that_names_no_wait_is_kept_for_the_next(
    client: MnesticClient,
    run_worker: RunWorker,
    handle_of: HandleOf,
    parked: str,
    pass_deadline: PassDeadline,
) -> None:
    await pass_deadline(parked)
    await handle_of(parked).signal(RESUME, ResumeRequest(request_id="r1", payload="late"))

    async with run_worker():
        result = await ended(client, parked)

    assert result.results["first"]["outcome"] == "timeout"
    assert result.results["second"]["payload"] == "late"


async def test_late_signals_that_name_no_wait_are_taken_in_their_order(
    client: MnesticClient,
    run_worker: RunWorker,
    handle_of: HandleOf,
    start_waiting: StartWaiting,
    pass_deadline: PassDeadline,
) -> None:
    async with run_worker():
        job_id = await start_waiting(THRICE)
    await pass_deadline(job_id)
    for request_id in ("r1", "r2"):
        await handle_of(job_id).signal(RESUME, ResumeRequest(request_id=request_id))

    async with run_worker():
        await ended(client, job_id)

    waits = (await client.describe_job(job_id)).waits
    assert [wait.receipt and wait.receipt.request_id for wait in waits] == [None, "r1", "r2"]


async def test_an_update_after_the_deadline_is_refused(
    client: MnesticClient,
    run_worker: RunWorker,
    parked: str,
    pass_deadline: PassDeadline,
    resume_ahead: Callable[..., Awaitable[asyncio.Task[Any]]],
) -> None:
    await pass_deadline(parked)
    sending = await resume_ahead(parked, request_id="r1", wait_id=f"{parked}/w1")

    async with run_worker():
        with pytest.raises(ResumeRefusedError, match=f"wait {parked}/w1 is"):
            await sending

    assert (await client.describe_job(parked)).waits[0].state == "timed_out"


async def test_an_extension_after_the_deadline_is_refused(
    client: MnesticClient,
    run_worker: RunWorker,
    parked: str,
    pass_deadline: PassDeadline,
    send_ahead: Callable[..., Awaitable[asyncio.Task[Any]]],
) -> None:
    await pass_deadline(parked)
    sending = await send_ahead(lambda sender: sender.extend_wait(parked, by=timedelta(days=7)))

    async with run_worker():
        with pytest.raises(InvalidInputError, match=f"wait {parked}/w1 is over, its time was up"):
            await sending

    assert (await client.describe_job(parked)).waits[0].state == "timed_out"


async def test_a_signal_after_the_deadline_of_a_paused_wait_comes_too_late(
    client: MnesticClient,
    run_worker: RunWorker,
    handle_of: HandleOf,
    until_state: Callable[[str, str], Awaitable[Any]],
    start_waiting: StartWaiting,
    pass_deadline: PassDeadline,
) -> None:
    async with run_worker():
        job_id = await start_waiting(TWICE)
        await client.pause_job(job_id)
        await until_state(job_id, "paused")
    await pass_deadline(job_id)
    await handle_of(job_id).signal(RESUME, ResumeRequest(request_id="r1", payload="late"))

    async with run_worker():
        await client.unpause_job(job_id)
        result = await ended(client, job_id)

    assert result.results["first"]["outcome"] == "timeout"
    assert result.results["second"]["payload"] == "late"


async def test_a_late_signal_stays_late_in_a_new_run(
    client: MnesticClient,
    run_worker: RunWorker,
    until_state: Callable[[str, str], Awaitable[Any]],
    handle_of: HandleOf,
    start_waiting: StartWaiting,
    pass_deadline: PassDeadline,
    poke: Callable[[str], Awaitable[None]],
) -> None:
    async with run_worker():
        job_id = await start_waiting(TWICE)
        await client.pause_job(job_id)
        await until_state(job_id, "paused")
        await pass_deadline(job_id)
        await handle_of(job_id).query(STATUS)
        await handle_of(job_id).signal(RESUME, ResumeRequest(request_id="r1", payload="late"))
        await poke(job_id)
        await client.unpause_job(job_id)
        result = await ended(client, job_id)

    assert result.results["first"]["outcome"] == "timeout"
    assert result.results["second"]["payload"] == "late"


async def test_an_update_after_the_first_deadline_of_an_extended_wait_is_in_time(
    client: MnesticClient, run_worker: RunWorker, handle_of: HandleOf, start_waiting: StartWaiting
) -> None:
    async with run_worker():
        job_id = await start_waiting(TWICE)
        await client.extend_wait(job_id, by=timedelta(days=7))
        await TimeSkipper(client.temporal).fast_forward(handle_of(job_id), timedelta(days=2))
        await client.resume_job(job_id, "in time", request_id="r1")
        result = await ended(client, job_id)

    assert result.results["first"]["payload"] == "in time"
