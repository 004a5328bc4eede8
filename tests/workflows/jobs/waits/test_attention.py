"""A job that needs attention waits for a person: what it keeps meanwhile, and who lets it go on."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from temporalio.client import WorkflowHandle
from temporalio.testing import TimeSkipper

from mnestic.memory.errors import ResumeRefusedError, SnapshotUnverifiedError
from mnestic.memory.jobs.agent_job import JobStatus
from mnestic.memory.jobs.waits import DeferredRequest, Override, ResumeRequest
from mnestic.memory.names import RESUME, STATUS
from mnestic.starter.client.mnestic_client import MnesticClient

StartWaiting = Callable[..., Awaitable[str]]
Until = Callable[..., Awaitable[Any]]
UntilState = Callable[[str, str], Awaitable[Any]]
HandleOf = Callable[[str], WorkflowHandle[Any, Any]]
Days = Callable[[str, int], Awaitable[None]]
DAY = timedelta(days=1)
ONE, TWO = {"text": "one", "last": True}, {"text": "two", "last": True}
pytestmark = pytest.mark.usefixtures("worker")


@pytest.fixture
async def kept(
    client: MnesticClient,
    start_waiting: StartWaiting,
    until_state: UntilState,
    rot: Callable[[], None],
    loop: str,
) -> str:
    """A job that keeps the request `r1`, sent by signal, since its snapshot has rotted."""
    job_id = await start_waiting(loop)
    rot()
    await client.resume_job(job_id, ONE, request_id="r1", by="signal")
    await until_state(job_id, "needs_attention")
    return job_id


@pytest.fixture
def pass_days(client: MnesticClient, handle_of: HandleOf) -> Days:
    """Moves a job's clock, and returns once it has seen that."""

    async def pass_(job_id: str, days: int) -> None:
        await TimeSkipper(client.temporal).fast_forward(handle_of(job_id), days * DAY)
        await handle_of(job_id).query(STATUS)

    return pass_


@pytest.fixture
def status_of(handle_of: HandleOf) -> Callable[[str], Awaitable[JobStatus]]:
    """What a job says of itself."""

    async def ask(job_id: str) -> JobStatus:
        status: JobStatus = await handle_of(job_id).query(STATUS, result_type=JobStatus)
        return status

    return ask


async def resumed_by(client: MnesticClient, job_id: str) -> list[str | None]:
    """Who resumed the waits of a job, once it is over."""
    async with asyncio.timeout(30):
        await client.wait_for_result(job_id)
    waits = (await client.describe_job(job_id)).waits
    return [wait.receipt and wait.receipt.request_id for wait in waits]


async def texts(client: MnesticClient) -> list[str]:
    return [m.content for m in (await client.memory("ada").working_memory.get("s1")).messages]


async def test_a_signal_that_meets_a_rotten_snapshot_is_kept_and_shown(
    client: MnesticClient, kept: str, status_of: Callable[[str], Awaitable[JobStatus]]
) -> None:
    job = await client.describe_job(kept)
    told = (await client.job_history(kept)).entries

    shown = (DeferredRequest(request_id="r1", outcome="resumed"),)
    assert (job.deferred, (await status_of(kept)).deferred) == (shown, shown)
    (parked,) = [entry for entry in told if entry.what == "needs_attention"]
    assert parked.detail["request_id"] == "r1"


async def test_a_signal_that_is_kept_resumes_once_the_snapshot_verifies(
    client: MnesticClient, kept: str, rot: Callable[[], None], pass_days: Days
) -> None:
    await pass_days(kept, 3)
    held = await client.describe_job(kept)
    rot()
    await pass_days(kept, 2)

    assert (held.state, [each.request_id for each in held.deferred]) == ("needs_attention", ["r1"])
    assert await resumed_by(client, kept) == ["r1"]
    assert await texts(client) == ["one"]


async def test_a_deadline_does_not_end_a_wait_that_needs_attention(
    client: MnesticClient,
    start_waiting: StartWaiting,
    until_state: UntilState,
    rot: Callable[[], None],
    pass_days: Days,
    loop: str,
) -> None:
    job_id = await start_waiting(loop)
    rot()
    await pass_days(job_id, 2)
    await until_state(job_id, "needs_attention")

    rot()
    await pass_days(job_id, 10)
    job = await client.describe_job(job_id)
    await client.override_job(job_id, reason="nobody came", outcome="timeout")

    assert (job.state, [wait.state for wait in job.waits]) == ("needs_attention", ["waiting"])
    assert job.deferred == ()
    assert (await client.wait_for_result(job_id)).results["turn"]["outcome"] == "timeout"


async def test_an_update_that_was_answered_is_not_kept(
    client: MnesticClient,
    start_waiting: StartWaiting,
    rot: Callable[[], None],
    pass_days: Days,
    loop: str,
) -> None:
    job_id = await start_waiting(loop)
    rot()
    with pytest.raises(SnapshotUnverifiedError):
        await client.resume_job(job_id, ONE, request_id="r1")

    rot()
    await pass_days(job_id, 3)
    job = await client.describe_job(job_id)
    receipt = await client.resume_job(job_id, TWO, request_id="r2")

    assert (job.state, job.deferred) == ("needs_attention", ())
    assert receipt is not None
    assert await resumed_by(client, job_id) == ["r2"]


async def test_a_new_run_keeps_the_request_and_tries_it_again(
    client: MnesticClient,
    kept: str,
    rot: Callable[[], None],
    poke: Callable[[str], Awaitable[None]],
    until: Until,
) -> None:
    async def was_tried_again() -> bool:
        told = (await client.job_history(kept)).entries
        return sum(entry.what == "needs_attention" for entry in told) == 2

    await poke(kept)
    await until(was_tried_again)
    held = await client.describe_job(kept)
    rot()
    await client.poke_job(kept)

    assert (held.state, [each.request_id for each in held.deferred]) == ("needs_attention", ["r1"])
    assert await resumed_by(client, kept) == ["r1"]


async def test_the_sender_gets_the_receipt_when_it_sends_a_kept_request_again(
    client: MnesticClient, kept: str, rot: Callable[[], None]
) -> None:
    with pytest.raises(SnapshotUnverifiedError, match="corrupted"):
        await client.resume_job(kept, ONE, request_id="r1")
    held = await client.describe_job(kept)
    rot()

    receipt = await client.resume_job(kept, ONE, request_id="r1")

    assert [each.request_id for each in held.deferred] == ["r1"]
    assert receipt is not None
    assert await resumed_by(client, kept) == ["r1"]


async def test_an_override_under_the_id_of_a_kept_request_lets_that_go_on(
    client: MnesticClient, kept: str
) -> None:
    receipt = await client.override_job(kept, reason="the disk is broken", request_id="r1")

    again = await client.resume_job(kept, ONE, request_id="r1")
    assert receipt is not None
    assert receipt.override is not None
    assert (receipt.verified, again) == (False, receipt)
    assert await resumed_by(client, kept) == ["r1"]
    assert await texts(client) == ["one"]


async def test_an_override_that_is_signalled_lets_a_kept_request_go_on(
    client: MnesticClient, handle_of: HandleOf, kept: str
) -> None:
    override = Override(reason="the disk is broken")
    await handle_of(kept).signal(RESUME, ResumeRequest(request_id="r1", override=override))

    assert await resumed_by(client, kept) == ["r1"]
    assert await texts(client) == ["one"]


@pytest.mark.parametrize("by", ["override", "resume"])
async def test_a_kept_request_is_told_as_refused_when_another_one_resumes(
    client: MnesticClient,
    kept: str,
    rot: Callable[[], None],
    until_state: UntilState,
    status_of: Callable[[str], Awaitable[JobStatus]],
    by: str,
) -> None:
    more = {"text": "two", "last": False}
    if by == "override":
        await client.override_job(kept, more, reason="the disk is broken", request_id="r2")
    else:
        rot()
        await client.resume_job(kept, more, request_id="r2")
    await until_state(kept, "waiting")

    status = await status_of(kept)
    with pytest.raises(ResumeRefusedError, match=f"wait {kept}/w1"):
        await client.resume_job(kept, ONE, request_id="r1", wait_id=f"{kept}/w1")

    assert status.refused == (f"r1: wait {kept}/w1 was resumed by r2",)
    assert (status.deferred, status.waits) == ((), 2)


async def test_of_requests_that_are_kept_the_first_one_resumes(
    client: MnesticClient,
    kept: str,
    rot: Callable[[], None],
    until: Until,
    pass_days: Days,
) -> None:
    async def both() -> bool:
        held = (await client.describe_job(kept)).deferred
        return [each.request_id for each in held] == ["r1", "r2"]

    await client.resume_job(kept, TWO, request_id="r2", by="signal")
    await until(both)
    rot()
    await pass_days(kept, 2)

    assert await resumed_by(client, kept) == ["r1"]


async def test_a_kept_request_waits_while_the_job_is_paused(
    client: MnesticClient,
    kept: str,
    rot: Callable[[], None],
    until_state: UntilState,
    pass_days: Days,
) -> None:
    await client.pause_job(kept)
    await until_state(kept, "paused")
    rot()
    await pass_days(kept, 3)
    held = await client.describe_job(kept)
    await client.unpause_job(kept)
    await pass_days(kept, 2)

    assert (held.state, [wait.state for wait in held.waits]) == ("paused", ["waiting"])
    assert await resumed_by(client, kept) == ["r1"]


async def test_an_update_whose_sender_had_to_leave_it_as_a_signal_is_kept(
    client: MnesticClient,
    admin_url: str,
    start_waiting: StartWaiting,
    handle_of: HandleOf,
    until: Until,
    until_state: UntilState,
    rot: Callable[[], None],
    loop: str,
) -> None:
    async def is_taken_for_long() -> bool:
        return bool((await handle_of(job_id).describe()).raw_description.pending_activities)

    job_id = await start_waiting(loop)
    rot()
    async with await psycopg.AsyncConnection.connect(admin_url) as connection:
        await connection.execute("LOCK mnestic.memory_snapshot IN ACCESS EXCLUSIVE MODE")
        receipt = await client.resume_job(job_id, ONE, request_id="r1", limit=timedelta(seconds=1))
        await until(is_taken_for_long)
        await handle_of(job_id).query(STATUS)
    job = await until_state(job_id, "needs_attention")

    assert receipt is None
    assert [each.request_id for each in job.deferred] == ["r1"]


async def test_a_job_whose_wait_the_database_does_not_have_goes_on_by_an_override(
    client: MnesticClient,
    admin_url: str,
    start_waiting: StartWaiting,
    until_state: UntilState,
    loop: str,
) -> None:
    """As in a database that was restored to an earlier moment."""
    job_id = await start_waiting(loop)
    with psycopg.connect(admin_url) as owner:
        for table in ("job_wait", "memory_snapshot", "operation"):
            query = psycopg.sql.SQL("DELETE FROM mnestic.{} WHERE tenant_id = %s")
            owner.execute(query.format(psycopg.sql.Identifier(table)), [client.settings.tenant_id])

    with pytest.raises(SnapshotUnverifiedError):
        await client.resume_job(job_id, ONE, request_id="r1")
    await until_state(job_id, "needs_attention")
    receipt = await client.override_job(job_id, ONE, reason="restored", request_id="r2")

    assert receipt is not None
    assert (receipt.verified, receipt.request_id) == (False, "r2")
    async with asyncio.timeout(30):
        await client.wait_for_result(job_id)
