"""Plans, jobs that wait in them, and what an adversary does to those."""

import asyncio
import time
import uuid
from collections.abc import Awaitable, Callable, Coroutine
from datetime import timedelta
from pathlib import Path
from typing import Any

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
from temporalio.common import WorkflowIDConflictPolicy
from temporalio.service import RPCError, RPCStatusCode
from temporalio.testing import TimeSkipper

from mnestic.memory.knowledge.inbox import InboxReport
from mnestic.memory.names import inbox_workflow_id, job_workflow_id
from mnestic.memory.ports import Memory
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.jobs.plans import parse_plan
from mnestic.workflows.knowledge.agent_inbox import AgentInbox, InboxInput
from tests.rotten_snapshots import rot_snapshots

PLANS = Path(__file__).parent / "plans"
Until = Callable[..., Awaitable[Any]]
SendAhead = Callable[..., Awaitable[asyncio.Task[Any]]]
ResumeAhead = Callable[..., Awaitable[asyncio.Task[Any]]]
HandleOf = Callable[[str], WorkflowHandle[Any, Any]]


@pytest.fixture
def greeting() -> str:
    """A plan that remembers a name, waits three weeks for a word, and says both."""
    return (PLANS / "greeting.yaml").read_text(encoding="utf-8")


@pytest.fixture
def loop() -> str:
    """A plan that waits and keeps a text, until it is told the last one."""
    return (PLANS / "loop.yaml").read_text(encoding="utf-8")


@pytest.fixture
def recheck() -> str:
    """A plan that recalls a price before a wait of policy `rebase`, and again after it."""
    return (PLANS / "recheck.yaml").read_text(encoding="utf-8")


@pytest.fixture
def until() -> Until:
    """Asks until the answer is true, and returns it."""

    async def until(ready: Callable[[], Awaitable[Any]], *, limit_s: float = 30) -> Any:
        start = time.monotonic()
        while not (found := await ready()):
            waited = time.monotonic() - start
            assert waited < limit_s, "the condition was not met in time"
            await asyncio.sleep(0.05 + min(waited / 10, 0.45))  # each question costs the servers
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


@pytest.fixture
def send_ahead(client: MnesticClient, memory: Memory, until: Until) -> SendAhead:
    """Sends an update by a client, and returns once Temporal has it, though no worker is up."""
    updates = SentUpdates()
    config = client.temporal.config()
    config["interceptors"] = [*config["interceptors"], updates]
    sender = MnesticClient(
        Client(**config), memory, settings=client.settings, endpoints=client.endpoints
    )

    async def is_there() -> bool:
        for workflow_id, update_id in updates.sent:
            execution = WorkflowExecution(workflow_id=workflow_id)
            ref = UpdateRef(workflow_execution=execution, update_id=update_id)
            asked = PollWorkflowExecutionUpdateRequest(
                namespace=client.temporal.namespace, update_ref=ref
            )
            try:
                await client.temporal.workflow_service.poll_workflow_execution_update(asked)
            except RPCError as error:
                if error.status is not RPCStatusCode.NOT_FOUND:
                    raise
            else:
                return True
        return False

    async def send(
        call: Callable[[MnesticClient], Coroutine[Any, Any, Any]],
    ) -> asyncio.Task[Any]:
        sending = asyncio.create_task(call(sender))
        await until(is_there)
        return sending

    return send


@pytest.fixture
def resume_ahead(send_ahead: SendAhead) -> ResumeAhead:
    """Sends a resume by update, and returns once Temporal has it, though no worker is up."""

    async def send(*args: Any, **fields: Any) -> asyncio.Task[Any]:
        return await send_ahead(lambda sender: sender.resume_job(*args, **fields))

    return send


@pytest.fixture
def start_waiting(
    client: MnesticClient, greeting: str, until: Until
) -> Callable[..., Awaitable[str]]:
    """Starts a job of a plan, the greeting if none is given, and returns its id once it waits."""

    async def start(plan: str = greeting) -> str:
        job_id = await client.start_job(
            parse_plan(plan, source="test"),
            agent_id="ada",
            session_id="s1",
            inputs={"name": "Mara"},
        )

        async def parked() -> bool:
            return (await client.describe_job(job_id)).state == "waiting"

        await until(parked)
        return job_id

    return start


@pytest.fixture
def handle_of(client: MnesticClient) -> Callable[[str], WorkflowHandle[Any, Any]]:
    """Temporal's own handle of a job."""

    def handle(job_id: str) -> WorkflowHandle[Any, Any]:
        workflow_id = job_workflow_id(client.settings.tenant_id, job_id)
        return client.temporal.get_workflow_handle(workflow_id)

    return handle


@pytest.fixture
def until_state(client: MnesticClient, until: Until) -> Callable[[str, str], Awaitable[Any]]:
    """Waits until a job is in a state, and returns how it is described then."""

    async def wait(job_id: str, state: str) -> Any:
        async def there() -> Any:
            found = await client.describe_job(job_id)
            return found if found.state == state else None

        return await until(there)

    return wait


@pytest.fixture
def until_fired(client: MnesticClient, until: Until) -> Callable[[str], Awaitable[None]]:
    """Waits until a job's timer has fired, though nobody may see it."""

    async def wait(job_id: str) -> None:
        async def fired() -> bool:
            entries = (await client.job_history(job_id)).entries
            return any(entry.what == "timer_fired" for entry in entries)

        await until(fired)

    return wait


@pytest.fixture
def pass_deadline(
    client: MnesticClient, handle_of: HandleOf, until_fired: Callable[[str], Awaitable[None]]
) -> Callable[[str], Awaitable[None]]:
    """Moves a job's clock by two days, past a deadline of one day."""

    async def pass_(job_id: str) -> None:
        skipper = TimeSkipper(client.temporal)
        skipping = asyncio.create_task(skipper.fast_forward(handle_of(job_id), timedelta(days=2)))
        await until_fired(job_id)
        skipping.cancel()  # it waits for a worker, too
        await asyncio.gather(skipping, return_exceptions=True)

    return pass_


@pytest.fixture
def poke(
    client: MnesticClient, until: Until, handle_of: HandleOf
) -> Callable[[str], Awaitable[None]]:
    """Pokes a job, and returns once it is in a new run."""

    async def send(job_id: str) -> None:
        first = (await handle_of(job_id).describe()).run_id
        await client.poke_job(job_id)

        async def moved() -> bool:
            return (await handle_of(job_id).describe()).run_id != first

        await until(moved)

    return send


@pytest.fixture
def rot(admin_url: str, client: MnesticClient) -> Callable[[], None]:
    """Flips a bit of the tenant's snapshots, past their trigger."""
    return lambda: rot_snapshots(admin_url, tenant_id=client.settings.tenant_id)


Signal = Callable[..., Awaitable[None]]
Settled = Callable[..., Awaitable[InboxReport]]


@pytest.fixture
def settled(client: MnesticClient, until: Until) -> Settled:
    """Waits until so many messages are learned or parked and nothing is on its way."""

    async def settle(number: int, *, limit_s: float = 60) -> InboxReport:
        async def done() -> InboxReport | None:
            report = await client.inbox("ada").status()
            is_done = report.learned + report.parked == number and not report.waiting
            return report if is_done and not report.pending else None

        found: InboxReport = await until(done, limit_s=limit_s)
        return found

    return settle


@pytest.fixture
def signal(client: MnesticClient) -> Signal:
    """Sends a signal as anybody may, in whatever language."""

    async def send(name: str, *arguments: Any, **terms: Any) -> None:
        tenant = client.settings.tenant_id
        await client.temporal.start_workflow(
            AgentInbox.run,
            InboxInput(tenant_id=tenant, agent_id="ada", **terms),
            id=inbox_workflow_id(tenant, "ada"),
            task_queue=client.settings.task_queue,
            id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
            start_signal=name,
            start_signal_args=arguments,
        )

    return send


@pytest.fixture
def inbox(client: MnesticClient) -> Callable[[], WorkflowHandle[Any, Any]]:
    """Temporal's own handle of the inbox."""

    def handle() -> WorkflowHandle[Any, Any]:
        return client.temporal.get_workflow_handle(
            inbox_workflow_id(client.settings.tenant_id, "ada")
        )

    return handle
