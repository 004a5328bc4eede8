"""Requests for a wait that the job has not opened yet, as far as its run knows.

It comes next, or an attempt has opened it which was lost: then its sender knows it from the database.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from temporalio.client import WorkflowHandle
from temporalio.testing import ActivityEnvironment
from temporalio.worker import Replayer

from mnestic.activities.jobs.waits import OpenWaitInput, WaitActivities
from mnestic.memory.errors import ResumeRefusedError, SnapshotUnverifiedError
from mnestic.memory.jobs.agent_job import JobStatus
from mnestic.memory.jobs.snapshots import SnapshotRef
from mnestic.memory.jobs.waits import ResumeRequest, ResumptionContext
from mnestic.memory.names import RESUME, STATUS, wait_id, wait_operation_key
from mnestic.memory.operations import Operation
from mnestic.memory.ports import Memory
from mnestic.memory.scope import Scope
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.jobs.plans import parse_plan
from mnestic.stores.postgres.jobs.recalls import ScopeRetriever
from mnestic.workflows.plugin import MnesticPlugin

ResumeAhead = Callable[..., Awaitable[asyncio.Task[Any]]]
HandleOf = Callable[[str], WorkflowHandle[Any, Any]]
LAST = {"text": "last", "last": True}
SLOW = """
name: slow
nodes:
  - {id: note, kind: remember, note: before, next: turn}
  - {id: turn, kind: wait, key: turn, timeout: 1d, on: {resumed: end, timeout: end}}
"""


@pytest.fixture
def limit() -> timedelta:
    """How long the wait is open that a lost attempt opened."""
    return timedelta(days=1)


@pytest.fixture
async def opened(
    client: MnesticClient, memory: Memory, handle_of: HandleOf, loop: str, limit: timedelta
) -> SnapshotRef:
    """The snapshot of the first wait of the job `lost`, which an attempt has opened that was lost."""
    plan = parse_plan(
        loop.replace("1d", f"{limit.seconds}s" if limit.seconds else "1d"), source="test"
    )
    job_id = await client.start_job(plan, agent_id="ada", session_id="s1", job_id="lost")
    started = (await client.describe_job(job_id)).started_at
    wait = wait_id(job_id, 1)
    opened: SnapshotRef = await ActivityEnvironment().run(
        WaitActivities(memory, ScopeRetriever()).open_wait,
        OpenWaitInput(
            scope=Scope(tenant_id=client.settings.tenant_id, agent_id="ada", session_id="s1"),
            operation=Operation(
                key=wait_operation_key(wait, "open_wait"),
                name="open_wait",
                job_id=job_id,
                chain=(await handle_of(job_id).describe()).run_id,
            ),
            wait_id=wait,
            key="turn",
            policy="rebase",
            context=ResumptionContext(cursor_node="turn", plan_decision_id="p"),
            opened_at=started,
            deadline=started + limit,
        ),
    )
    return opened


async def test_an_update_that_names_a_wait_which_a_lost_attempt_opened_resumes_it(
    client: MnesticClient,
    run_worker: Callable[[], AbstractAsyncContextManager[None]],
    opened: SnapshotRef,
    resume_ahead: ResumeAhead,
) -> None:
    sending = await resume_ahead("lost", LAST, request_id="r1", wait_id="lost/w1")

    async with run_worker():
        receipt = await sending
        await client.wait_for_result("lost")

    assert receipt is not None
    assert (receipt.wait_id, receipt.snapshot_sha256) == ("lost/w1", opened.sha256)


@pytest.mark.usefixtures("opened")
@pytest.mark.parametrize("limit", [timedelta(seconds=4)])
@pytest.mark.parametrize("named", [True, False])
async def test_a_signal_that_came_in_time_stays_so_in_a_new_run(
    client: MnesticClient,
    run_worker: Callable[[], AbstractAsyncContextManager[None]],
    handle_of: HandleOf,
    until: Callable[..., Awaitable[Any]],
    limit: timedelta,
    *,
    named: bool,
) -> None:
    async def is_past() -> bool:
        return datetime.now(UTC) > job.started_at + limit

    job = await client.describe_job("lost")
    wait = "lost/w1" if named else None
    request = ResumeRequest(request_id="r1", wait_id=wait, payload=LAST)
    await handle_of("lost").signal(RESUME, request)
    await client.poke_job("lost")  # goes on in a new run before it comes to the wait
    await until(is_past)

    async with run_worker():
        await client.wait_for_result("lost")

    (ended,) = (await client.describe_job("lost")).waits
    assert ended.state == "resumed"


@pytest.mark.usefixtures("opened")
async def test_an_update_for_the_next_wait_that_hears_an_error_does_not_resume_it_later(
    client: MnesticClient,
    run_worker: Callable[[], AbstractAsyncContextManager[None]],
    until_state: Callable[[str, str], Awaitable[Any]],
    rot: Callable[[], None],
    resume_ahead: ResumeAhead,
) -> None:
    rot()
    sending = await resume_ahead("lost", LAST, request_id="r1", wait_id="lost/w1")

    async with run_worker():
        with pytest.raises(SnapshotUnverifiedError):
            await sending
        job = await until_state("lost", "needs_attention")
        rot()
        await client.resume_job("lost", LAST, request_id="r2")
        await client.wait_for_result("lost")

    (wait,) = (await client.describe_job("lost")).waits
    assert job.deferred == ()
    assert wait.receipt is not None
    assert wait.receipt.request_id == "r2"


async def test_a_signal_and_an_update_that_come_before_the_first_line_replay(
    client: MnesticClient,
    run_worker: Callable[[], AbstractAsyncContextManager[None]],
    handle_of: HandleOf,
    resume_ahead: ResumeAhead,
    loop: str,
) -> None:
    plan = parse_plan(loop, source="test")
    await client.start_job(plan, agent_id="ada", session_id="s1", job_id="early")
    request = ResumeRequest(request_id="r1", wait_id="early/w1", payload=LAST)
    await handle_of("early").signal(RESUME, request)
    sending = await resume_ahead("early", LAST, request_id="r1", wait_id="early/w1")

    async with run_worker():
        receipt = await sending
        await client.wait_for_result("early")
    history = await handle_of("early").fetch_history()

    assert receipt is not None
    await Replayer(workflows=[], plugins=[MnesticPlugin()]).replay_workflow(history)


async def test_an_update_that_names_a_later_wait_is_refused(
    client: MnesticClient, run_worker: Callable[[], AbstractAsyncContextManager[None]]
) -> None:
    job_id = await client.start_job(
        parse_plan(SLOW, source="test"), agent_id="ada", session_id="s1", job_id="slow"
    )
    async with run_worker():
        with pytest.raises(ResumeRefusedError, match="wait slow/w2 is not open"):
            await client.resume_job(job_id, wait_id="slow/w2")


async def test_an_update_for_the_wait_that_comes_next_goes_along_into_a_new_run(
    client: MnesticClient,
    run_worker: Callable[[], AbstractAsyncContextManager[None]],
    handle_of: HandleOf,
    resume_ahead: ResumeAhead,
) -> None:
    job_id = await client.start_job(
        parse_plan(SLOW, source="test"), agent_id="ada", session_id="s1", job_id="slow"
    )
    first = (await handle_of(job_id).describe()).run_id
    await client.poke_job(job_id)  # goes on in a new run before it opens a wait
    sending = await resume_ahead(job_id, LAST, wait_id="slow/w1")

    async with run_worker():
        receipt = await sending
        await client.wait_for_result(job_id)

    assert receipt is not None
    assert receipt.wait_id == "slow/w1"
    assert (await handle_of(job_id).describe()).run_id != first


async def test_a_wait_that_a_lost_attempt_opened_is_the_one_that_is_waited_at(
    client: MnesticClient,
    run_worker: Callable[[], AbstractAsyncContextManager[None]],
    handle_of: HandleOf,
    until_state: Callable[[str, str], Awaitable[Any]],
    opened: SnapshotRef,
) -> None:
    job_id, wait = "lost", "lost/w1"
    started = (await client.describe_job(job_id)).started_at
    await client.memory("ada").records.set("order", "price", 12)

    async with run_worker():
        await until_state(job_id, "waiting")
        receipt = await client.resume_job(job_id, LAST)
        status = await handle_of(job_id).query(STATUS, result_type=JobStatus)

    (stored,) = (await client.describe_job(job_id)).waits
    assert (receipt.wait_id, receipt.snapshot_sha256) == (wait, opened.sha256)
    assert (stored.snapshot_id, stored.deadline) == (opened.id, started + timedelta(days=1))
    assert status.waits == 1
