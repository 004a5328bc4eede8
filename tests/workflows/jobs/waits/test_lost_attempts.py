"""What a lost attempt had committed: the workflow finds it, and the first commit stands.

A local activity's result is lost when its worker dies before the workflow task ends. Here the activity
is run as such an attempt would, under the wait's key, before the workflow asks.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from typing import Any

import pytest
from temporalio.client import WorkflowHandle
from temporalio.testing import ActivityEnvironment

from mnestic.activities.jobs.waits import RestoreInput, WaitActivities
from mnestic.memory.errors import InvalidInputError, ResumeRefusedError
from mnestic.memory.jobs.agent_job import JobStatus
from mnestic.memory.jobs.waits import Restored, ResumeRequest
from mnestic.memory.names import RESUME, STATUS, wait_operation_key
from mnestic.memory.operations import Operation
from mnestic.memory.ports import Memory
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.stores.postgres.jobs.recalls import ScopeRetriever

StartWaiting = Callable[..., Awaitable[str]]
Lose = Callable[..., Awaitable[Restored]]
ResumeAhead = Callable[..., Awaitable[asyncio.Task[Any]]]
HandleOf = Callable[[str], WorkflowHandle[Any, Any]]
FIRST = {"text": "first", "last": False}
LAST = {"text": "second", "last": True}


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
        return await ActivityEnvironment().run(
            WaitActivities(memory, ScopeRetriever()).restore, asked
        )

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

    state = await client.memory("ada").working_memory.get("s1")
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
    state = await client.memory("ada").working_memory.get("s1")
    return [message.content for message in state.messages]
