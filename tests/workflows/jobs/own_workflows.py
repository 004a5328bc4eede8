"""Workflows of one's own that wait by `AgentMemory`, for `test_own_workflows.py`.

They stand alone because their sandbox imports this module anew for each run of a workflow.
"""

import asyncio
from contextlib import suppress
from datetime import timedelta
from typing import Any

from pydantic import BaseModel, PositiveInt
from temporalio import workflow

from mnestic.memory.jobs.agent_job import AgentMemoryState
from mnestic.memory.scope import Scope
from mnestic.workflows.jobs.agent_memory import AgentMemory

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


@workflow.defn(name="Both")
class Both:
    """Waits for two things at once, the second a moment later if it is to be."""

    @workflow.init
    def __init__(self, asked: Asked) -> None:
        self._memory = AgentMemory(job_id=JOB, scope=asked.scope)
        self._later = asked.key == "later"

    @workflow.run
    async def run(self, asked: Asked) -> None:  # noqa: ARG002 - Temporal gives it to both
        await asyncio.gather(self._memory.wait("approval", timeout=DAY), self._pay())

    async def _pay(self) -> None:
        if self._later:
            await workflow.sleep(1)
        await self._memory.wait("payment", timeout=DAY)


@workflow.defn(name="GivesUp")
class GivesUp:
    """Gives a wait up after a moment, and waits for something, maybe the same."""

    @workflow.init
    def __init__(self, asked: Asked) -> None:
        self._memory = AgentMemory(job_id=JOB, scope=asked.scope)

    @workflow.run
    async def run(self, asked: Asked) -> list[Any]:
        with suppress(TimeoutError, asyncio.CancelledError):
            await asyncio.wait_for(self._memory.wait("approval", timeout=DAY), 2)
        ended = await self._memory.wait(asked.key, timeout=DAY)
        return [ended.wait_id, ended.outcome]


@workflow.defn(name="GivesUpEarly")
class GivesUpEarly:
    """Gives a wait up at once, while it is being opened, and waits for something, maybe the same."""

    @workflow.init
    def __init__(self, asked: Asked) -> None:
        self._memory = AgentMemory(job_id=JOB, scope=asked.scope)

    @workflow.run
    async def run(self, asked: Asked) -> list[Any]:
        waiting = asyncio.create_task(self._memory.wait("approval", timeout=DAY))
        await asyncio.sleep(0)
        waiting.cancel()
        with suppress(asyncio.CancelledError):
            await waiting
        ended = await self._memory.wait(asked.key, timeout=DAY)
        return [ended.wait_id, ended.outcome]
