"""Workflows of one's own that wait by `AgentMemory`: what it holds them to."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import timedelta
from typing import Any

import pytest
from pydantic import BaseModel, PositiveInt
from temporalio import workflow
from temporalio.client import WorkflowFailureError, WorkflowHandle
from temporalio.worker import Worker

from mnestic.activities.clients.local import LocalChatModel, LocalSummariser
from mnestic.memory.errors import SnapshotUnverifiedError
from mnestic.memory.jobs import AgentMemoryState
from mnestic.memory.names import job_workflow_id
from mnestic.memory.scope import Scope
from mnestic.starter.client import MnesticClient
from mnestic.stores.postgres.memory import PostgresMemory
from mnestic.worker import activities_of
from mnestic.workflows.agent_memory import AgentMemory

Until = Callable[..., Awaitable[Any]]
Run = Callable[[type], AbstractAsyncContextManager[None]]
Start = Callable[..., Awaitable[WorkflowHandle[Any, Any]]]
UntilState = Callable[[str, str], Awaitable[Any]]
JOB = "mine"
DAY = timedelta(days=1)


class Asked(BaseModel):
    """What is waited for."""

    scope: Scope
    key: str = "decision"
    state: AgentMemoryState | None = None


class Decision(BaseModel):
    """What a resume says."""

    amount: PositiveInt


@workflow.defn(name="Decides")
class Decides:
    """Waits for a decision, in as many runs as it takes."""

    @workflow.init
    def __init__(self, asked: Asked) -> None:
        self._asked = asked
        self._memory = AgentMemory(
            job_id=JOB, scope=asked.scope, state=asked.state, continue_as_new=self._go_on
        )

    @workflow.run
    async def run(self, asked: Asked) -> list[Any]:
        key = self._key(asked)
        ended = await self._memory.wait(key, timeout=DAY, payload_type=Decision)
        return [ended.outcome, ended.payload and ended.payload.amount]

    def _key(self, asked: Asked) -> str:
        return asked.key

    def _go_on(self, state: AgentMemoryState) -> None:
        workflow.continue_as_new(self._asked.model_copy(update={"state": state}))


@workflow.defn(name="Decides")
class Strays(Decides):
    """Comes to another wait once it is in a new run."""

    @workflow.init
    def __init__(self, asked: Asked) -> None:
        super().__init__(asked)

    @workflow.run
    async def run(self, asked: Asked) -> list[Any]:
        return await super().run(asked)

    def _key(self, asked: Asked) -> str:
        return asked.key if asked.state is None else "another"


@pytest.fixture
def run(client: MnesticClient, memory: PostgresMemory) -> Run:
    """Runs a worker with one workflow, for as long as a block."""

    @asynccontextmanager
    async def run(kind: type) -> AsyncIterator[None]:
        activities = activities_of(memory, model=LocalChatModel(), summariser=LocalSummariser())
        queue = client.settings.task_queue
        async with Worker(
            client.temporal, task_queue=queue, workflows=[kind], activities=activities
        ):
            yield

    return run


@pytest.fixture
def start(client: MnesticClient) -> Start:
    """Starts the workflow as the job `mine`."""

    async def start(**asked: Any) -> WorkflowHandle[Any, Any]:
        tenant = client.settings.tenant_id
        scope = Scope(tenant_id=tenant, agent_id="ada", session_id="s1")
        return await client.temporal.start_workflow(
            "Decides",
            Asked(scope=scope, **asked),
            id=job_workflow_id(tenant, JOB),
            task_queue=client.settings.task_queue,
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
