"""Lanes: a tenant, a task queue, a client and a worker process each, on servers that they share.

The product runs on one lane and its floor on another, so that both can be measured side by side.
"""

import asyncio
import sys
import uuid
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Protocol, TypeVar

from pydantic import SecretStr
from temporalio.client import Client, WorkflowHandle

from benchmarks.floor import STAMP, BareJob
from benchmarks.timed_worker import READY
from mnestic.memory.jobs.plans import Plan
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.embedded.connection import environment_for_embedded
from mnestic.starter.embedded.state import RuntimeState
from mnestic.starter.jobs.plans import parse_plan
from mnestic.starter.memory_wiring import writing_embedder
from mnestic.starter.settings import Settings
from mnestic.starter.wiring import (
    connect_temporal,
    find_endpoints,
    open_memory,
)

CACHED = 1000  # the SDK's default, and so a worker's
AT_ONCE = 20
PAYLOAD = {"by": "Ana", "note": "The amount is right, and the supplier has answered."}
_PARK_LIMIT_S = 1800.0
_BEGUN = 4  # events of a workflow after its first task
_PLAN = f"""
name: benchmark
nodes:
  - {{id: approval, kind: wait, key: approval, ask: "May the order go out?", timeout: 21d,
     on: {{resumed: next, timeout: end}}}}
  - {{id: next, kind: tool, activity: {STAMP}, next: end}}
"""
_CHANNEL = "benchmark"
_EVENT_PLAN = f"""
name: benchmark
nodes:
  - {{id: approval, kind: wait, key: approval, timeout: 21d, event: {{channel: {_CHANNEL}, where: {{job: "${{job.id}}"}}}},
     on: {{event: next, timeout: end}}}}
  - {{id: next, kind: tool, activity: {STAMP}, next: end}}
"""
Item = TypeVar("Item")
Result = TypeVar("Result")


def wait_and_go_on() -> Plan:
    """The plan of the benchmark: a wait, then a tool that reports its start."""
    return parse_plan(_PLAN, source="the benchmark")


async def at_once(
    items: Iterable[Item], work: Callable[[Item], Awaitable[Result]], *, limit: int = AT_ONCE
) -> list[Result]:
    """Does the work for each item, for so many at a time."""
    free = asyncio.Semaphore(limit)

    async def one(item: Item) -> Result:
        async with free:
            return await work(item)

    return await asyncio.gather(*(one(item) for item in items))


class Parkable(Protocol):
    """A side of the comparison: jobs of the product, or bare workflows as the floor."""

    @property
    def worker_pid(self) -> int:
        """The process that runs them."""
        ...

    async def park(self, number: int) -> list[str]:
        """Starts so many and returns their ids once all of them wait."""
        ...

    async def finish(self, job_id: str) -> int:
        """Resumes one and waits for its end; returns when its activity began, in ns since the epoch."""
        ...


class Lane:
    """Jobs of one tenant."""

    def __init__(
        self, client: MnesticClient, *, worker_pid: int, maintenance_pid: int | None = None
    ) -> None:
        self.client, self.worker_pid = client, worker_pid
        self.maintenance_pid = maintenance_pid
        self._plan = wait_and_go_on()
        self._started = 0

    async def park(self, number: int, *, plan: Plan | None = None) -> list[str]:
        """Starts so many jobs and returns their ids once all of them wait."""
        before = await self._count_waiting()
        jobs = await self.start(number, plan=plan)
        async with asyncio.timeout(_PARK_LIMIT_S):
            while await self._count_waiting() < before + number:  # noqa: ASYNC110 - Temporal's
                await asyncio.sleep(0.2)  # a count takes Temporal's database from the jobs
        return jobs

    async def start(self, number: int, *, plan: Plan | None = None) -> list[str]:
        """Starts so many jobs, each on a session of its own."""
        first, self._started = self._started, self._started + number

        async def one(index: int) -> str:
            return await self.client.start_job(
                plan or self._plan, agent_id=f"agent-{index}", session_id=f"session-{index}"
            )

        return await at_once(range(first, self._started), one)

    async def finish(self, job_id: str) -> int:
        """Resumes a job and waits for its end; returns when its tool began, in ns since the epoch."""
        await self._resume(job_id)
        result = await self.client.wait_for_result(job_id)
        began: int = result.results["next"]
        return began

    async def _resume(self, job_id: str) -> None:
        await self.client.resume_job(job_id, PAYLOAD)

    async def _count_waiting(self) -> int:
        tenant = self.client.settings.tenant_id
        query = f"TenantId = '{tenant}' AND JobState = 'waiting'"
        return (await self.client.temporal.count_workflows(query)).count


class EventLane(Lane):
    """Jobs that wait for an event, each for its own."""

    async def allow(self) -> None:
        """Lets the agents use the channel."""
        channels = {"enabled": True, "channels": [{"channel": _CHANNEL}]}
        shared = {"enabled": True, "pubsub": channels}
        await self.client.contracts().apply("*", {"Memory": {"shared": shared}})
        self._plan = parse_plan(_EVENT_PLAN, source="the benchmark")
        self._publisher = await self.client.contract("publisher")

    async def _resume(self, job_id: str) -> None:
        await self._publisher.publish(_CHANNEL, PAYLOAD | {"job": job_id})


class Floor:
    """Bare workflows of one task queue, driven by Temporal's own client."""

    def __init__(self, client: Client, *, task_queue: str, worker_pid: int) -> None:
        self._client, self._task_queue, self.worker_pid = client, task_queue, worker_pid

    async def park(self, number: int) -> list[str]:
        """Starts so many workflows and returns their ids once they wait.

        Nothing shows that one waits, but that its first task is done. Only the last ones are queried, as each
        question takes time from the floor; where one before them came later, the floor gets faster.
        """

        async def start(_: int) -> str:
            handle = await self._client.start_workflow(
                BareJob.run, id=f"bare/{uuid.uuid4().hex}", task_queue=self._task_queue
            )
            return handle.id

        workflows = await at_once(range(number), start)
        async with asyncio.timeout(_PARK_LIMIT_S):
            await at_once(workflows[-AT_ONCE:], self._until_begun)
        return workflows

    async def finish(self, workflow_id: str) -> int:
        """Answers a workflow and waits for its end; returns when its activity began, in ns since the epoch."""
        handle: WorkflowHandle[BareJob, int] = self._client.get_workflow_handle(
            workflow_id, result_type=int
        )
        await self._answer(handle)
        return await handle.result()

    async def _answer(self, handle: WorkflowHandle[BareJob, int]) -> None:
        await handle.execute_update(BareJob.answer, PAYLOAD)

    async def _until_begun(self, workflow_id: str) -> None:
        handle: WorkflowHandle[BareJob, int] = self._client.get_workflow_handle(workflow_id)
        while (await handle.describe()).history_length < _BEGUN:  # noqa: ASYNC110 - Temporal's
            await asyncio.sleep(0.01)


class SignalFloor(Floor):
    """Bare workflows that get a signal."""

    async def _answer(self, handle: WorkflowHandle[BareJob, int]) -> None:
        await handle.signal(BareJob.tell, PAYLOAD)


class Lanes:
    """Makes lanes on the servers of a runtime."""

    def __init__(self, state: RuntimeState, data_dir: Path) -> None:
        assert state.database_url is not None, "the runtime is not started"
        self.state, self._data_dir = state, data_dir
        self._database = SecretStr(state.database_url)

    def settings(self, name: str) -> Settings:
        """Settings of a lane."""
        return Settings(
            data_dir=self._data_dir,
            tenant_id=name,
            task_queue=name,
            database_url=self._database,
            temporal_address=self.state.temporal_address,
        )

    @asynccontextmanager
    async def open(
        self, name: str, *, cached: int = CACHED, extracts: bool = True, maintains: bool = False
    ) -> AsyncIterator[Lane]:
        """A lane with a worker process of its own for jobs, and if it maintains one for maintenance, for as long as a block."""
        words = [] if extracts else ["--no-extraction"]
        async with AsyncExitStack() as stack:
            client = await stack.enter_async_context(self.client(name))

            async def start(*more: str) -> int:
                worker = self._worker(client.settings, f"--cached={cached}", *more)
                return await stack.enter_async_context(worker)

            maintenance = await start("--maintenance") if maintains else None
            yield Lane(client, worker_pid=await start(*words), maintenance_pid=maintenance)

    @asynccontextmanager
    async def open_events(self, name: str) -> AsyncIterator[tuple[EventLane, SignalFloor]]:
        """A lane of jobs that wait for events, and its floor, for as long as a block."""
        async with self.open(name) as lane, self._floor_client(name) as (client, own):
            events = EventLane(lane.client, worker_pid=lane.worker_pid)
            await events.allow()
            yield events, SignalFloor(client, **own)

    @asynccontextmanager
    async def open_floor(self, name: str, *, cached: int = CACHED) -> AsyncIterator[Floor]:
        """The floor with a worker process of its own, for as long as a block."""
        async with self._floor_client(name, cached=cached) as (client, own):
            yield Floor(client, **own)

    @asynccontextmanager
    async def _floor_client(
        self, name: str, *, cached: int = CACHED
    ) -> AsyncIterator[tuple[Client, dict[str, Any]]]:
        settings = self.settings(f"{name}-floor")
        async with self._worker(settings, f"--cached={cached}", "--floor") as pid:
            client = await Client.connect(str(settings.temporal_address))
            yield client, {"task_queue": settings.task_queue, "worker_pid": pid}

    @asynccontextmanager
    async def client(self, name: str) -> AsyncIterator[MnesticClient]:
        """A client of a lane, for a worker that is started otherwise."""
        settings = self.settings(name)
        endpoints = find_endpoints(settings)
        memory = open_memory(endpoints, embedder=writing_embedder(settings))
        temporal = await connect_temporal(endpoints)
        async with MnesticClient(
            temporal, memory, settings=settings, endpoints=endpoints
        ) as client:
            yield client

    @asynccontextmanager
    async def _worker(self, settings: Settings, *words: str) -> AsyncIterator[int]:
        process = await self._start_worker(settings, words)
        try:
            yield process.pid
        finally:
            assert process.stdin is not None
            process.stdin.close()
            await process.wait()

    async def _start_worker(self, settings: Settings, words: Sequence[str]) -> Process:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-m", "benchmarks.timed_worker", *words),
            stdin=PIPE,
            stdout=PIPE,
            start_new_session=True,  # as the runtime starts workers
            env={
                **environment_for_embedded(),
                "MNESTIC_DATABASE_URL": self._database.get_secret_value(),
                "MNESTIC_DATABASE_ADMIN_URL": str(self.state.database_admin_url),
                "MNESTIC_BACKUP_DIRECTORY": str(settings.data_dir / "backups"),
                "MNESTIC_DATA_DIR": str(settings.data_dir),
                "MNESTIC_TASK_QUEUE": settings.task_queue,
                "TEMPORAL_ADDRESS": str(settings.temporal_address),
            },
        )
        assert process.stdout is not None
        if await process.stdout.readline() != READY:
            raise RuntimeError(f"the worker of {settings.task_queue} did not start")
        return process
