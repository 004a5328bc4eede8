"""A deadline that passes, or is moved, while the job is paused at its wait."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import pytest
from temporalio.client import WorkflowHandle

from mnestic.memory.errors import InvalidInputError
from mnestic.memory.names import STATUS
from mnestic.starter.client import MnesticClient

pytestmark = pytest.mark.usefixtures("worker")
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

    with pytest.raises(InvalidInputError, match=f"wait {paused}/w1 is just ending"):
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
