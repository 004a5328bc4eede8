"""Workflows of one's own that wait by `AgentMemory`: what it holds them to."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from temporalio.client import WorkflowFailureError, WorkflowHandle
from temporalio.exceptions import ApplicationError
from temporalio.worker import Worker

from mnestic.activities.clients.local import LocalChatModel, LocalSummariser
from mnestic.memory.scope import Scope
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.stores.postgres.memory import PostgresMemory
from mnestic.worker import activities_of
from tests.workflows.conftest import Jobs
from tests.workflows.jobs.own_workflows import (
    JOB,
    Asked,
    Both,
    Decides,
    GivesUp,
    GivesUpEarly,
    Strays,
)

Run = Callable[..., AbstractAsyncContextManager[None]]
Start = Callable[..., Awaitable[WorkflowHandle[Any, Any]]]


@pytest.fixture
def run(client: MnesticClient, memory: PostgresMemory) -> Run:
    """Runs a worker with some workflows, for as long as a block."""

    @asynccontextmanager
    async def run(*kinds: type) -> AsyncIterator[None]:
        activities = activities_of(memory, model=LocalChatModel(), summariser=LocalSummariser())
        queue = client.settings.task_queue
        async with Worker(
            client.temporal,
            task_queue=queue,
            workflows=kinds,
            activities=activities,
            sticky_queue_schedule_to_start_timeout=timedelta(seconds=1),
        ):
            yield

    return run


@pytest.fixture
def start(jobs: Jobs) -> Start:
    """Starts a workflow as the job `mine`."""

    async def start(kind: str = "Decides", **asked: Any) -> WorkflowHandle[Any, Any]:
        tenant = jobs.settings.tenant_id
        scope = Scope(tenant_id=tenant, agent_id="ada", session_id="s1")
        return await jobs.temporal.start_workflow(
            kind,
            Asked(scope=scope, **asked),
            id=jobs.handle(JOB).id,
            task_queue=jobs.settings.task_queue,
            task_timeout=timedelta(seconds=2),  # after it a local activity lets the workflow go on
        )

    return start


async def refused(handle: WorkflowHandle[Any, Any]) -> ApplicationError:
    """Why a workflow has failed that asked for a second wait."""
    with pytest.raises(WorkflowFailureError) as failed:
        await asyncio.wait_for(handle.result(), 30)
    cause = failed.value.cause
    assert isinstance(cause, ApplicationError)
    assert cause.type == "AlreadyWaitingError"
    return cause


async def test_a_new_run_that_comes_to_another_wait_is_stuck_until_its_code_is_mended(
    jobs: Jobs, run: Run, start: Start
) -> None:
    async with run(Strays):
        handle = await start()
        await jobs.until_state(JOB, "waiting")
        await jobs.poke_job(JOB)
        stuck = await jobs.until(lambda: jobs.told(JOB, "stuck"))
    (wait,) = await jobs.waits(JOB)
    async with run(Decides):
        await jobs.signal(JOB, payload={"amount": 80})  # no update while its task has failed
        result = await handle.result()

    why = "the job waits for decision, and its code came to the wait for another"
    assert why in stuck[0].detail["cause"]
    assert wait.state == "waiting"
    assert result == ["resumed", 80]


@pytest.mark.parametrize("when", ["now", "later"])
async def test_a_second_wait_at_the_same_time_is_refused_and_says_what_to_do(
    run: Run, start: Start, when: str
) -> None:
    async with run(Both):
        cause = await refused(await start("Both", key=when))

    assert "job mine waits for approval, so it cannot wait for payment" in str(cause)


@pytest.fixture
def until_given_up(
    admin_url: str, jobs: Jobs
) -> Callable[[WorkflowHandle[Any, Any], str], Awaitable[None]]:
    """Until a workflow has given its wait up: as one that was open, while it was being opened, or just begun."""

    async def wait(handle: WorkflowHandle[Any, Any], how: str) -> None:
        if how == "opening":
            async with await psycopg.AsyncConnection.connect(admin_url) as connection:
                await connection.execute("LOCK TABLE mnestic.job_wait IN SHARE MODE")
                await jobs.until_fired(JOB)
        elif how != "early":
            await jobs.until_state(JOB, "waiting")
            if how == "cancelled":
                await handle.cancel()
            else:
                await jobs.until_fired(JOB)

    return wait


HOW = {"open": "GivesUp", "cancelled": "GivesUp", "opening": "GivesUp", "early": "GivesUpEarly"}


@pytest.mark.parametrize("how", ["cancelled", "opening"])
async def test_another_wait_after_one_that_was_given_up_is_refused_and_says_what_to_do(
    run: Run, start: Start, until_given_up: Callable[..., Awaitable[None]], how: str
) -> None:
    async with run(GivesUp, GivesUpEarly):
        handle = await start(HOW[how], key="payment")
        await until_given_up(handle, how)
        cause = await refused(handle)

    assert "still open; wait for approval again, or end the job" in str(cause)


@pytest.mark.parametrize("how", ["open", "early"])
async def test_a_wait_that_was_given_up_is_waited_for_again(
    jobs: Jobs, run: Run, start: Start, until_given_up: Callable[..., Awaitable[None]], how: str
) -> None:
    async with run(GivesUp, GivesUpEarly):
        handle = await start(HOW[how], key="approval")
        await until_given_up(handle, how)
        await jobs.until_state(JOB, "waiting")
        await jobs.resume_job(JOB, request_id="r1")
        result = await asyncio.wait_for(handle.result(), 30)

    assert result == [f"{JOB}/w1", "resumed"]
