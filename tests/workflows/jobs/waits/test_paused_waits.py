"""A deadline that passes, or is moved, while the job is paused at its wait, or its extension is written."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from temporalio.client import WorkflowHandle

from mnestic.memory.errors import InvalidInputError
from mnestic.memory.names import STATUS
from mnestic.starter.client.mnestic_client import MnesticClient

pytestmark = [
    pytest.mark.acceptance,
    pytest.mark.usefixtures("worker"),
]  # deadlines pass by the clock
StartWaiting = Callable[..., Awaitable[str]]
Until = Callable[..., Awaitable[Any]]
HandleOf = Callable[[str], WorkflowHandle[Any, Any]]
UntilState = Callable[[str, str], Awaitable[Any]]
TWICE = """
name: twice
nodes:
  - {id: first, kind: wait, key: first, timeout: 3s, on: {resumed: end, timeout: second}}
  - {id: second, kind: wait, key: second, timeout: 21d, on: {resumed: end, timeout: end}}
"""


@pytest.fixture
async def paused(
    client: MnesticClient, start_waiting: StartWaiting, until_state: UntilState
) -> str:
    """A job that is paused at its first wait, whose deadline is soon."""
    job_id = await start_waiting(TWICE)
    await client.pause_job(job_id)
    await until_state(job_id, "paused")
    return job_id


@pytest.fixture
def until_up(
    client: MnesticClient, until: Until, handle_of: HandleOf
) -> Callable[[str], Awaitable[None]]:
    """Waits until a timer of a job has fired, and the job has taken note of it."""

    async def wait(job_id: str) -> None:
        async def fired() -> bool:
            told = (await client.job_history(job_id)).entries
            return any(entry.what == "timer_fired" for entry in told)

        await until(fired)
        await handle_of(job_id).query(STATUS)

    return wait


@pytest.fixture
def extending(
    client: MnesticClient, admin_url: str, until: Until, handle_of: HandleOf
) -> Callable[[str], AbstractAsyncContextManager[None]]:
    """Has the extension of a job's first wait by a day written for as long as a block."""

    @asynccontextmanager
    async def extend(job_id: str) -> AsyncIterator[None]:
        async def is_written() -> bool:
            running = (await handle_of(job_id).describe()).raw_description.pending_activities
            return any(each.activity_type.name == "mnestic.extend_wait" for each in running)

        row = "SELECT 1 FROM mnestic.job_wait WHERE wait_id = %s FOR UPDATE"
        async with await psycopg.AsyncConnection.connect(admin_url) as held:
            await held.execute(row, [f"{job_id}/w1"])
            extension = asyncio.create_task(client.extend_wait(job_id, by=timedelta(days=1)))
            await until(is_written)
            yield
        await extension

    return extend


async def test_a_signal_after_the_deadline_is_kept_for_the_next_wait(
    client: MnesticClient, paused: str, until_up: Callable[[str], Awaitable[None]]
) -> None:
    await until_up(paused)

    await client.resume_job(paused, "late", request_id="r1", by="signal")
    await client.unpause_job(paused)
    result = await client.wait_for_result(paused)

    waits = (await client.describe_job(paused)).waits
    assert [wait.state for wait in waits] == ["timed_out", "resumed"]
    assert result.results["second"]["payload"] == "late"


async def test_a_deadline_that_has_passed_is_not_moved(
    client: MnesticClient, paused: str, until_up: Callable[[str], Awaitable[None]]
) -> None:
    await until_up(paused)

    with pytest.raises(
        InvalidInputError, match=f"wait {paused}/w1 is (just ending|over, its time was up)"
    ):
        await client.extend_wait(paused, by=timedelta(days=1))

    (wait,) = (await client.describe_job(paused)).waits
    assert wait.deadline - wait.opened_at < timedelta(minutes=1)


async def test_a_deadline_that_was_moved_in_the_pause_does_not_pass_at_its_first_moment(
    client: MnesticClient, paused: str, until_up: Callable[[str], Awaitable[None]]
) -> None:
    await client.extend_wait(paused, by=timedelta(days=1))
    await until_up(paused)

    await client.resume_job(paused, "in time", request_id="r1", by="signal")
    await client.unpause_job(paused)
    result = await asyncio.wait_for(client.wait_for_result(paused), 30)

    assert result.waits == 1
    assert result.results["first"]["payload"] == "in time"


async def test_a_deadline_that_was_moved_in_the_pause_counts_after_it(
    client: MnesticClient,
    paused: str,
    until_up: Callable[[str], Awaitable[None]],
    until_state: UntilState,
) -> None:
    extended = await client.extend_wait(paused, by=timedelta(days=1))
    await until_up(paused)

    await client.unpause_job(paused)
    job = await until_state(paused, "waiting")

    assert (job.deadline, len(job.waits)) == (extended.deadline, 1)


@pytest.mark.parametrize("is_paused", [True, False])
async def test_a_request_that_comes_while_a_later_deadline_is_written_resumes_the_wait(
    client: MnesticClient,
    start_waiting: StartWaiting,
    until_up: Callable[[str], Awaitable[None]],
    until_state: UntilState,
    extending: Callable[[str], AbstractAsyncContextManager[None]],
    *,
    is_paused: bool,
) -> None:
    job_id = await start_waiting(TWICE)
    if is_paused:
        await client.pause_job(job_id)
        await until_state(job_id, "paused")

    async with extending(job_id):
        await until_up(job_id)
        await client.resume_job(
            job_id, "in time", wait_id=f"{job_id}/w1", request_id="r1", by="signal"
        )
        await until_up(job_id)
    await client.unpause_job(job_id)
    result = await asyncio.wait_for(client.wait_for_result(job_id), 30)

    assert result.waits == 1
    assert result.results["first"]["payload"] == "in time"


async def test_a_paused_wait_that_got_a_later_deadline_at_its_last_moment_may_get_another(
    client: MnesticClient,
    paused: str,
    until_up: Callable[[str], Awaitable[None]],
    extending: Callable[[str], AbstractAsyncContextManager[None]],
) -> None:
    async with extending(paused):
        await until_up(paused)

    extended = await client.extend_wait(paused, by=timedelta(days=2))

    (wait,) = (await client.describe_job(paused)).waits
    assert wait.deadline == extended.deadline
