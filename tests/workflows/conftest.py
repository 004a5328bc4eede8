"""Jobs that wait in plans, and what people and an adversary do to them."""

import asyncio
import time
import uuid
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.update.v1 import UpdateRef
from temporalio.api.workflowservice.v1 import PollWorkflowExecutionUpdateRequest
from temporalio.client import (
    Client,
    Interceptor,
    OutboundInterceptor,
    StartWorkflowUpdateInput,
    WorkflowHandle,
    WorkflowUpdateHandle,
)
from temporalio.service import RPCError, RPCStatusCode
from temporalio.testing import TimeSkipper

from mnestic.memory.jobs.agent_job import JobResult, JobStatus
from mnestic.memory.jobs.waits import JobWait, ResumeRequest
from mnestic.memory.names import RESUME, STATUS, job_workflow_id
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.jobs.plans import parse_plan


def plan_of(name: str) -> str:
    """The plan in a file of `plans/`."""
    return (Path(__file__).parent / "plans" / f"{name}.yaml").read_text(encoding="utf-8")


# A plan that remembers a name, waits three weeks for a word, and says both; one that waits and keeps a text until
# it is told the last one; and one that recalls a price before a wait of policy `rebase`, and again after it.
GREETING, LOOP, RECHECK = map(plan_of, ("greeting", "loop", "recheck"))
DAY = timedelta(days=1)
Until = Callable[..., Awaitable[Any]]
Worker = Callable[[], AbstractAsyncContextManager[None]]


@pytest.fixture
def until() -> Until:
    """Asks until the answer is true, and returns it."""

    async def until(ready: Callable[[], Awaitable[Any]], *, limit_s: float = 30) -> Any:
        start = time.monotonic()
        while not (found := await ready()):
            waited = time.monotonic() - start
            assert waited < limit_s, "the condition was not met in time"
            await asyncio.sleep(0.1 + min(waited / 10, 0.4))  # each question costs the servers
        return found

    return until


class SentUpdates(Interceptor):
    """The updates that a client has sent, by workflow id and update id."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, str]] = []

    def intercept_client(self, next: OutboundInterceptor) -> OutboundInterceptor:  # noqa: A002 - Temporal's name
        """Notes each update before it goes on."""
        sent = self.sent

        class Noting(OutboundInterceptor):
            async def start_workflow_update(
                self,
                input: StartWorkflowUpdateInput,  # noqa: A002
            ) -> WorkflowUpdateHandle[Any]:
                input.update_id = input.update_id or uuid.uuid4().hex
                sent.append((input.id, input.update_id))
                return await super().start_workflow_update(input)

        return Noting(next)


class Jobs(MnesticClient):
    """A client that starts, looks at and steers jobs of the agent `ada`, and what is done to them beside it."""

    def __init__(
        self, client: MnesticClient, *, until: Until, worker: Worker, admin_url: str
    ) -> None:
        super().__init__(
            client.temporal, client._memory, settings=client.settings, endpoints=client.endpoints
        )
        self.until, self.worker, self._admin_url = until, worker, admin_url
        self._rotten: list[str] | None = None  # the snapshots that do not verify

    async def start(self, plan: str = GREETING, **fields: Any) -> str:
        asked: dict[str, Any] = {"agent_id": "ada", "session_id": "s1", "inputs": {"name": "Mara"}}
        return await self.start_job(parse_plan(plan, source="test"), **(asked | fields))

    async def start_waiting(self, plan: str = GREETING, **fields: Any) -> str:
        """Starts a job, and returns its id once it waits."""
        job_id = await self.start(plan, **fields)
        await self.until_state(job_id, "waiting")
        return job_id

    async def run(self, plan: str, **fields: Any) -> JobResult:
        return await self.wait_for_result(await self.start(plan, **fields))

    def handle(self, job_id: str) -> WorkflowHandle[Any, Any]:
        """Temporal's own handle of a job."""
        workflow_id = job_workflow_id(self.settings.tenant_id, job_id)
        return self.temporal.get_workflow_handle(workflow_id)

    async def status(self, job_id: str) -> JobStatus:
        """What a job says of itself, once it has handled all that came before."""
        status: JobStatus = await self.handle(job_id).query(STATUS, result_type=JobStatus)
        return status

    async def until_state(self, job_id: str, state: str, *, waits: int | None = None) -> Any:
        """Waits until a job is in a state, maybe at a wait of a number; returns how it is described then."""

        async def there() -> Any:
            found = await self.describe_job(job_id)
            is_there = found.state == state and waits in {None, len(found.waits)}
            return found if is_there else None

        return await self.until(there)

    async def told(self, job_id: str, what: str) -> list[Any]:
        """The entries of a kind in a job's history."""
        return [e for e in (await self.job_history(job_id)).entries if e.what == what]

    async def until_fired(self, job_id: str) -> None:
        """Waits until a job's timer has fired, though nobody may see it."""

        async def fired() -> bool:
            events = self.handle(job_id).fetch_history_events()
            return any([event.HasField("timer_fired_event_attributes") async for event in events])

        await self.until(fired)

    async def until_at_work(self, job_id: str, name: str | None = None) -> None:
        """Waits until a job has an ordinary activity under way, maybe of a name."""

        async def is_at_work() -> bool:
            found = (await self.handle(job_id).describe()).raw_description.pending_activities
            return any(name in {None, each.activity_type.name} for each in found)

        await self.until(is_at_work)

    async def waits(self, job_id: str) -> tuple[JobWait, ...]:
        return (await self.describe_job(job_id)).waits

    async def result(self, job_id: str) -> JobResult:
        async with asyncio.timeout(30):
            return await self.wait_for_result(job_id)

    async def resumed_by(self, job_id: str) -> list[str | None]:
        """Who resumed the waits of a job, once it is over."""
        await self.result(job_id)
        return [w.receipt and w.receipt.request_id for w in await self.waits(job_id)]

    async def texts(self, session_id: str = "s1") -> list[str]:
        """The messages of a session."""
        state = await self.memory("ada").working_memory.get(session_id)
        return [message.content for message in state.messages]

    async def variables(self) -> dict[str, Any]:
        return (await self.memory("ada").working_memory.get("s1")).variables

    async def signal(self, job_id: str, request_id: str = "r1", **fields: Any) -> None:
        """Signals past all checks of our client."""
        await self.handle(job_id).signal(RESUME, ResumeRequest(request_id=request_id, **fields))

    async def ahead(
        self, call: Callable[[MnesticClient], Coroutine[Any, Any, Any]]
    ) -> asyncio.Task[Any]:
        """Sends an update by a client, and returns once Temporal has it, though no worker is up."""
        updates = SentUpdates()
        config = self.temporal.config()
        config["interceptors"] = [*config["interceptors"], updates]
        sender = MnesticClient(
            Client(**config),
            self._memory,
            settings=self.settings,
            endpoints=self.endpoints,
        )

        async def is_there() -> bool:
            for workflow_id, update_id in updates.sent:
                execution = WorkflowExecution(workflow_id=workflow_id)
                ref = UpdateRef(workflow_execution=execution, update_id=update_id)
                asked = PollWorkflowExecutionUpdateRequest(
                    namespace=self.temporal.namespace, update_ref=ref
                )
                try:
                    await self.temporal.workflow_service.poll_workflow_execution_update(asked)
                except RPCError as error:
                    if error.status is not RPCStatusCode.NOT_FOUND:
                        raise
                else:
                    return True
            return False

        sending = asyncio.create_task(call(sender))
        await self.until(is_there)
        return sending

    async def resume_ahead(self, *args: Any, **fields: Any) -> asyncio.Task[Any]:
        return await self.ahead(lambda sender: sender.resume_job(*args, **fields))

    async def pause(self, job_id: str) -> None:
        await self.pause_job(job_id)
        await self.until_state(job_id, "paused")

    async def poke(self, job_id: str) -> None:
        """Pokes a job, and returns once it is in a new run."""
        first = (await self.handle(job_id).describe()).run_id
        await self.poke_job(job_id)

        async def moved() -> bool:
            return bool((await self.handle(job_id).describe()).run_id != first)

        await self.until(moved)

    async def pass_days(self, job_id: str, days: int) -> None:
        """Moves a job's clock, and returns once it has seen that."""
        await TimeSkipper(self.temporal).fast_forward(self.handle(job_id), days * DAY)
        await self.status(job_id)

    async def pass_deadline(self, job_id: str) -> None:
        """Moves a job's clock by two days, past a deadline of one day, though no worker may be up."""
        skipper = TimeSkipper(self.temporal)
        skipping = asyncio.create_task(skipper.fast_forward(self.handle(job_id), 2 * DAY))
        await self.until_fired(job_id)
        skipping.cancel()  # it waits for a worker, too
        await asyncio.gather(skipping, return_exceptions=True)

    def rot(self) -> None:
        """Flips a bit of the tenant's snapshots, past their trigger; done again, these verify again."""
        query = """
            UPDATE mnestic.memory_snapshot SET body = set_byte(body, 9, get_byte(body, 9) # 1)
             WHERE tenant_id = %s AND (%s::text[] IS NULL OR id = ANY(%s::text[])) RETURNING id
            """
        with psycopg.connect(self._admin_url) as connection:
            connection.execute("SET LOCAL session_replication_role = replica")
            values = [self.settings.tenant_id, self._rotten, self._rotten]
            flipped = [name for (name,) in connection.execute(query, values).fetchall()]
        self._rotten = None if self._rotten else flipped


@pytest.fixture
def jobs(client: MnesticClient, until: Until, run_worker: Worker, admin_url: str) -> Jobs:
    """Jobs of this test's tenant."""
    return Jobs(client, until=until, worker=run_worker, admin_url=admin_url)
