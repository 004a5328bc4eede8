"""What a lost attempt had committed: the workflow finds it, and the first commit stands.

A local activity's result is lost when its worker dies before the workflow task ends. Here the activity
is run as such an attempt would, under the wait's key, before the workflow asks.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from temporalio.client import WorkflowHandle
from temporalio.testing import ActivityEnvironment

from mnestic.activities.waits import OpenWaitInput, RestoreInput, WaitActivities
from mnestic.memory.errors import InvalidInputError, ResumeRefusedError, SnapshotUnverifiedError
from mnestic.memory.jobs import JobStatus
from mnestic.memory.names import RESUME, STATUS, wait_id, wait_operation_key
from mnestic.memory.operations import Operation
from mnestic.memory.ports import Memory
from mnestic.memory.scope import Scope
from mnestic.memory.snapshots import SnapshotRef
from mnestic.memory.waits import Restored, ResumeRequest, ResumptionContext
from mnestic.starter.client import MnesticClient
from mnestic.starter.plans import parse_plan

StartWaiting = Callable[..., Awaitable[str]]
Lose = Callable[..., Awaitable[Restored]]
ResumeAhead = Callable[..., Awaitable[asyncio.Task[Any]]]
HandleOf = Callable[[str], WorkflowHandle[Any, Any]]
FIRST = {"text": "first", "last": False}
LAST = {"text": "second", "last": True}
SLOW = """
name: slow
nodes:
  - {id: note, kind: remember, note: before, next: turn}
  - {id: turn, kind: wait, key: turn, timeout: 1d, on: {resumed: end, timeout: end}}
"""


@pytest.fixture
def lose(memory: Memory, handle_of: HandleOf) -> Lose:
    """Restores a job's open wait as an attempt that is lost."""

    async def restore(job_id: str, payload: Any, *, request_id: str | None = "r1") -> Restored:
        status = await handle_of(job_id).query(STATUS, result_type=JobStatus)
        assert status.open_wait is not None
        wait = status.open_wait
        asked = RestoreInput(
            scope=status.scope,
            operation=Operation(
                key=wait_operation_key(wait.wait_id, "restore"),
                name="restore",
                job_id=job_id,
                chain=(await handle_of(job_id).describe()).run_id,
            ),
            wait=wait,
            request=ResumeRequest(request_id=request_id, payload=payload) if request_id else None,
            restored_at=wait.snapshot.snapshot_at + timedelta(seconds=1),
        )
        return await ActivityEnvironment().run(WaitActivities(memory).restore, asked)

    return restore


@pytest.mark.usefixtures("worker")
async def test_an_update_that_comes_after_a_lost_resume_is_refused_and_the_first_one_stands(
    client: MnesticClient, start_waiting: StartWaiting, lose: Lose
) -> None:
    job_id = await start_waiting()
    restored = await lose(job_id, {"word": "first"})

    with pytest.raises(ResumeRefusedError, match="was resumed by r1"):
        await client.resume_job(job_id, {"word": "second"}, request_id="r2")
    result = await client.wait_for_result(job_id)
    first = await client.resume_job(job_id, {"word": "first"}, request_id="r1")

    assert result.results["approval"]["payload"] == {"word": "first"}
    assert first == restored.receipt


@pytest.mark.usefixtures("worker")
async def test_a_lost_resume_stands_in_the_next_run_as_well(
    client: MnesticClient,
    start_waiting: StartWaiting,
    lose: Lose,
    poke: Callable[[str], Awaitable[None]],
) -> None:
    job_id = await start_waiting()
    await lose(job_id, {"word": "first"})
    await poke(job_id)

    with pytest.raises(ResumeRefusedError, match="was resumed by r1"):
        await client.resume_job(job_id, {"word": "second"}, request_id="r2")
    result = await client.wait_for_result(job_id)

    assert result.results["approval"]["payload"] == {"word": "first"}


@pytest.mark.usefixtures("worker")
async def test_a_request_that_lost_to_another_may_resume_the_next_wait(
    client: MnesticClient, start_waiting: StartWaiting, lose: Lose, loop: str
) -> None:
    job_id = await start_waiting(loop)
    await lose(job_id, FIRST)
    with pytest.raises(ResumeRefusedError, match="was resumed by r1"):
        await client.resume_job(job_id, LAST, request_id="r2", wait_id=f"{job_id}/w1")

    receipt = await resumed(client, job_id, LAST, request_id="r2")

    assert receipt.wait_id == f"{job_id}/w2"
    assert await texts(client, job_id) == ["first", "second"]


@pytest.mark.usefixtures("worker")
async def test_a_signal_that_comes_after_a_lost_resume_is_kept_for_the_next_wait(
    client: MnesticClient, start_waiting: StartWaiting, lose: Lose, loop: str
) -> None:
    job_id = await start_waiting(loop)
    await lose(job_id, FIRST)

    await client.resume_job(job_id, LAST, request_id="r2", by="signal")

    assert await texts(client, job_id) == ["first", "second"]
    waits = (await client.describe_job(job_id)).waits
    assert [wait.receipt.request_id for wait in waits if wait.receipt] == ["r1", "r2"]


async def test_signals_that_come_after_a_lost_resume_are_taken_in_their_order(
    client: MnesticClient,
    run_worker: Callable[[], AbstractAsyncContextManager[None]],
    start_waiting: StartWaiting,
    handle_of: HandleOf,
    lose: Lose,
    loop: str,
) -> None:
    async with run_worker():
        job_id = await start_waiting(loop)
        await lose(job_id, FIRST)
    for request_id, payload in (("r2", {"text": "next", "last": False}), ("r3", LAST)):
        request = ResumeRequest(request_id=request_id, payload=payload)
        await handle_of(job_id).signal(RESUME, request)

    async with run_worker():
        kept = await texts(client, job_id)

    assert kept == ["first", "next", "second"]


@pytest.mark.usefixtures("worker")
async def test_a_signal_for_a_wait_that_a_lost_resume_ended_is_told_as_refused(
    client: MnesticClient,
    start_waiting: StartWaiting,
    lose: Lose,
    loop: str,
    handle_of: HandleOf,
    until: Callable[..., Awaitable[Any]],
) -> None:
    async def waits_again() -> bool:
        job = await client.describe_job(job_id)
        return (job.state, len(job.waits)) == ("waiting", 2)

    job_id = await start_waiting(loop)
    await lose(job_id, FIRST)

    await client.resume_job(job_id, LAST, request_id="r2", wait_id=f"{job_id}/w1", by="signal")
    await until(waits_again)
    await resumed(client, job_id, LAST, request_id="r3")

    status = await handle_of(job_id).query(STATUS, result_type=JobStatus)
    assert status.refused == (f"r2: wait {job_id}/w1 was resumed by r1",)
    assert await texts(client, job_id) == ["first", "second"]


@pytest.mark.usefixtures("worker")
async def test_a_deadline_that_comes_after_a_lost_resume_comes_too_late(
    client: MnesticClient, start_waiting: StartWaiting, lose: Lose, greeting: str
) -> None:
    job_id = await start_waiting(greeting.replace("21d", "3s"))
    await lose(job_id, {"word": "first"})

    result = await client.wait_for_result(job_id)

    state = await client.memory("ada").working_memory("s1")
    assert result.results["approval"]["outcome"] == "resumed"
    assert result.results["approval"]["payload"] == {"word": "first"}
    assert state.messages[-1].content == "Hello first, Mara."


@pytest.mark.usefixtures("worker")
async def test_a_resume_that_comes_after_a_lost_timeout_comes_too_late(
    client: MnesticClient, start_waiting: StartWaiting, lose: Lose
) -> None:
    job_id = await start_waiting()
    await lose(job_id, None, request_id=None)

    with pytest.raises(ResumeRefusedError, match="its time was up"):
        await client.resume_job(job_id, {"word": "late"})
    result = await client.wait_for_result(job_id)

    assert result.results["approval"]["outcome"] == "timeout"
    assert [wait.state for wait in (await client.describe_job(job_id)).waits] == ["timed_out"]


@pytest.mark.usefixtures("worker")
async def test_a_wait_that_a_lost_resume_ended_is_not_extended(
    client: MnesticClient, start_waiting: StartWaiting, lose: Lose
) -> None:
    job_id = await start_waiting()
    await lose(job_id, {"word": "first"})

    with pytest.raises(InvalidInputError, match=f"wait {job_id}/w1 is over"):
        await client.extend_wait(job_id, by=timedelta(days=1))


@pytest.mark.usefixtures("worker")
async def test_a_job_that_is_cancelled_after_a_lost_resume_leaves_its_receipt(
    client: MnesticClient, start_waiting: StartWaiting, lose: Lose
) -> None:
    job_id = await start_waiting()
    restored = await lose(job_id, {"word": "first"})

    await client.cancel_job(job_id)
    await asyncio.gather(client.wait_for_result(job_id), return_exceptions=True)
    first = await client.resume_job(job_id, {"word": "first"}, request_id="r1")

    assert first == restored.receipt
    assert [wait.state for wait in (await client.describe_job(job_id)).waits] == ["resumed"]


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
        WaitActivities(memory).open_wait,
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
    assert job.kept == ()
    assert wait.receipt is not None
    assert wait.receipt.request_id == "r2"


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
    opened: SnapshotRef,
) -> None:
    job_id, wait = "lost", "lost/w1"
    started = (await client.describe_job(job_id)).started_at
    await client.memory("ada").set("order", "price", 12)

    async with run_worker():
        receipt = await resumed(client, job_id, LAST)
        status = await handle_of(job_id).query(STATUS, result_type=JobStatus)

    (stored,) = (await client.describe_job(job_id)).waits
    assert (receipt.wait_id, receipt.snapshot_sha256) == (wait, opened.sha256)
    assert (stored.snapshot_id, stored.deadline) == (opened.id, started + timedelta(days=1))
    assert status.waits == 1


async def resumed(client: MnesticClient, job_id: str, payload: Any, **asked: Any) -> Any:
    """Resumes the job as soon as it waits."""
    while True:
        try:
            return await client.resume_job(job_id, payload, **asked)
        except ResumeRefusedError as error:
            if "not waiting" not in str(error):
                raise
        await asyncio.sleep(0.05)


async def texts(client: MnesticClient, job_id: str) -> list[str]:
    """What the job has kept, once it is over."""
    await client.wait_for_result(job_id)
    state = await client.memory("ada").working_memory("s1")
    return [message.content for message in state.messages]
