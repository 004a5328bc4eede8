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
from mnestic.memory.errors import SnapshotUnverifiedError
from mnestic.memory.names import job_workflow_id
from mnestic.memory.scope import Scope
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.stores.postgres.memory import PostgresMemory
from mnestic.worker import activities_of
from tests.workflows.jobs.own_workflows import (
    JOB,
    Asked,
    Both,
    Decides,
    Forked,
    Forks,
    GivesUp,
    GivesUpEarly,
    Strays,
)

Until = Callable[..., Awaitable[Any]]
Run = Callable[..., AbstractAsyncContextManager[None]]
Start = Callable[..., Awaitable[WorkflowHandle[Any, Any]]]
UntilState = Callable[[str, str], Awaitable[Any]]


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
def start(client: MnesticClient) -> Start:
    """Starts a workflow as the job `mine`."""

    async def start(kind: str = "Decides", **asked: Any) -> WorkflowHandle[Any, Any]:
        tenant = client.settings.tenant_id
        scope = Scope(tenant_id=tenant, agent_id="ada", session_id="s1")
        return await client.temporal.start_workflow(
            kind,
            Asked(scope=scope, **asked),
            id=job_workflow_id(tenant, JOB),
            task_queue=client.settings.task_queue,
            task_timeout=timedelta(seconds=2),  # after it a local activity lets the workflow go on
        )

    return start


async def test_a_new_run_that_comes_to_another_wait_is_stuck_until_its_code_is_mended(
    client: MnesticClient, run: Run, start: Start, until: Until, until_state: UntilState
) -> None:
    async def stuck() -> list[str]:
        told = (await client.job_history(JOB)).entries
        return [entry.detail["cause"] for entry in told if entry.what == "stuck"]

    async with run(Strays):
        handle = await start()
        await until_state(JOB, "waiting")
        await client.poke_job(JOB)
        why = await until(stuck)
    (wait,) = (await client.describe_job(JOB)).waits
    async with run(Decides):
        await client.resume_job(JOB, {"amount": 80})
        result = await handle.result()

    assert "the job waits for decision, and its code came to the wait for another" in why[0]
    assert wait.state == "waiting"
    assert result == ["resumed", 80]


async def test_a_key_of_just_the_longest_is_waited_for(
    client: MnesticClient, run: Run, start: Start, until_state: UntilState
) -> None:
    async with run(Decides):
        handle = await start(key="\u00e9" * 341)
        job = await until_state(JOB, "waiting")
        await client.resume_job(JOB, {"amount": 80})
        result = await handle.result()

    assert job.wait_key == "\u00e9" * 341
    assert result == ["resumed", 80]


async def test_a_key_that_no_search_attribute_holds_fails_the_workflow(
    run: Run, start: Start
) -> None:
    async with run(Decides):
        handle = await start(key="\u00e9" * 342)
        with pytest.raises(WorkflowFailureError) as failed:
            await handle.result()

    assert "key: takes 2054 bytes as a search attribute" in str(failed.value.cause)


@pytest.mark.parametrize("when", ["now", "later"])
async def test_a_second_wait_at_the_same_time_is_refused_and_says_what_to_do(
    run: Run, start: Start, when: str
) -> None:
    async with run(Both):
        handle = await start("Both", key=when)
        with pytest.raises(WorkflowFailureError) as failed:
            await asyncio.wait_for(handle.result(), 30)

    cause = failed.value.cause
    assert isinstance(cause, ApplicationError)
    assert cause.type == "AlreadyWaitingError"
    assert "job mine waits for approval, so it cannot wait for payment" in str(cause)


@pytest.mark.parametrize("how", ["timeout", "cancel"])
async def test_a_second_wait_after_one_that_was_given_up_is_refused_and_says_what_to_do(
    run: Run, start: Start, until_state: UntilState, how: str
) -> None:
    async with run(GivesUp):
        handle = await start("GivesUp", key="payment")
        await until_state(JOB, "waiting")
        if how == "cancel":
            await handle.cancel()
        with pytest.raises(WorkflowFailureError) as failed:
            await asyncio.wait_for(handle.result(), 30)

    cause = failed.value.cause
    assert isinstance(cause, ApplicationError)
    assert cause.type == "AlreadyWaitingError"
    assert "still open; wait for approval again, or end the job" in str(cause)


async def test_a_wait_that_was_given_up_is_waited_for_again(
    client: MnesticClient, run: Run, start: Start, until: Until, until_state: UntilState
) -> None:
    async def given_up() -> bool:
        return any(e.what == "timer_fired" for e in (await client.job_history(JOB)).entries)

    async with run(GivesUp):
        handle = await start("GivesUp", key="approval")
        await until_state(JOB, "waiting")
        await until(given_up)
        await client.resume_job(JOB, request_id="r1")
        result = await asyncio.wait_for(handle.result(), 30)

    assert result == [f"{JOB}/w1", "resumed"]


@pytest.fixture
def while_it_opens(
    admin_url: str, until: Until
) -> Callable[[WorkflowHandle[Any, Any], str], Awaitable[None]]:
    """Holds the database up, until the workflow that gives up after a moment has done so."""

    async def hold(handle: WorkflowHandle[Any, Any], kind: str) -> None:
        async def gave_up() -> bool:
            events = handle.fetch_history_events()
            return any([event.HasField("timer_fired_event_attributes") async for event in events])

        if kind == "GivesUp":
            async with await psycopg.AsyncConnection.connect(admin_url) as connection:
                await connection.execute("LOCK TABLE mnestic.job_wait IN SHARE MODE")
                await until(gave_up)

    return hold


@pytest.mark.parametrize("kind", ["GivesUp", "GivesUpEarly"])
async def test_a_wait_that_is_given_up_while_it_opens_is_not_taken_for_another(
    run: Run, start: Start, while_it_opens: Callable[..., Awaitable[None]], kind: str
) -> None:
    async with run(GivesUp, GivesUpEarly):
        handle = await start(kind, key="payment")
        await while_it_opens(handle, kind)
        with pytest.raises(WorkflowFailureError) as failed:
            await asyncio.wait_for(handle.result(), 30)

    assert "still open; wait for approval again, or end the job" in str(failed.value.cause)


@pytest.mark.parametrize("kind", ["GivesUp", "GivesUpEarly"])
async def test_a_wait_that_is_given_up_while_it_opens_is_waited_for_again(
    client: MnesticClient,
    run: Run,
    start: Start,
    while_it_opens: Callable[..., Awaitable[None]],
    until_state: UntilState,
    kind: str,
) -> None:
    async with run(GivesUp, GivesUpEarly):
        handle = await start(kind, key="approval")
        await while_it_opens(handle, kind)
        await until_state(JOB, "waiting")
        await client.resume_job(JOB, request_id="r1")
        result = await asyncio.wait_for(handle.result(), 30)

    assert result == [f"{JOB}/w1", "resumed"]


async def test_a_workflow_gives_another_one_the_memory_of_its_wait(
    client: MnesticClient, run: Run, start: Start, until_state: UntilState
) -> None:
    async with run(Forks, Forked):
        handle = await start("Forks")
        await until_state(JOB, "waiting")
        await client.resume_job(JOB, request_id="r1")
        told = await asyncio.wait_for(handle.result(), 30)

    notes = [(await client.memory("ada").working_memory.get(s)).scratchpad for s in ("s1", "other")]
    waits = [(await client.describe_job(job)).waits for job in (JOB, "other")]
    assert told == ["other/w1", "timeout"]
    assert notes == ["before\nafter", "before\nforked"]
    assert [[wait.state for wait in each] for each in waits] == [["resumed"], ["timed_out"]]


async def test_an_override_by_the_way_of_the_timeout_brings_no_payload_of_any_type(
    client: MnesticClient, run: Run, start: Start, until_state: UntilState, rot: Callable[[], None]
) -> None:
    async with run(Decides):
        handle = await start()
        await until_state(JOB, "waiting")
        rot()
        with pytest.raises(SnapshotUnverifiedError):
            await client.resume_job(JOB, {"amount": 80})
        await client.override_job(JOB, {"amount": "no"}, reason="lost", outcome="timeout")
        result = await handle.result()

    assert result == ["timeout", None]
