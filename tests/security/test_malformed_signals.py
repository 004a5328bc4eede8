"""Whatever is sent to a workflow, and whatever it is started with, none is left unable to go on.

Signals, updates, queries and inputs are sent as anybody may send them: past our client, as bytes.
"""

import asyncio
import time
import uuid
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime

import pytest
from temporalio.api.common.v1 import Payload, Payloads, WorkflowType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import StartWorkflowExecutionRequest
from temporalio.client import WorkflowFailureError
from temporalio.exceptions import ApplicationError, CancelledError
from temporalio.worker import Worker

from mnestic.activities.clients.local import LocalChatModel, LocalSummariser
from mnestic.memory.knowledge.resources import Resource
from mnestic.memory.names import (
    AGENT_INBOX,
    AGENT_JOB,
    FORGET_TOPIC,
    INGEST_MESSAGES,
    MAINTENANCE,
    inbox_workflow_id,
    job_workflow_id,
)
from mnestic.memory.scope import Scope
from mnestic.starter.client.ingestion import start_ingest
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.jobs.plans import parse_plan
from mnestic.stores.postgres.memory import PostgresMemory
from mnestic.worker import activities_of
from mnestic.workflows.forgetting.forget_topic import ForgetTopic
from mnestic.workflows.jobs.agent_job import AgentJob
from mnestic.workflows.knowledge.agent_inbox import AgentInbox, InboxInput
from mnestic.workflows.knowledge.ingest_messages import IngestMessages
from mnestic.workflows.maintenance.maintenance import Maintenance
from mnestic.workflows.plugin import MnesticPlugin
from tests.security.own_workflow import Asked, Own
from tests.security.strangers import ANY, MALFORMED, NULL, Stranger, json_of
from tests.workflows.forgetting.forget_samples import forget

pytestmark = pytest.mark.acceptance  # every handler gets 31 kinds of payloads

PLAN = """
name: parked
nodes:
  - {id: word, kind: wait, key: word, timeout: 21d, on: {resumed: end, timeout: end}}
"""
RunWorker = Callable[[], AbstractAsyncContextManager[None]]


async def started(client: MnesticClient) -> Stranger:
    """A job that waits, which no worker has taken up yet."""
    plan = parse_plan(PLAN, source="test")
    job_id = await client.start_job(plan, agent_id="ada", session_id="s1")
    return Stranger(client, job_workflow_id(client.settings.tenant_id, job_id))


async def until_waiting(client: MnesticClient, job_id: str) -> None:
    deadline = time.monotonic() + 30
    while (await client.describe_job(job_id)).state != "waiting":
        assert time.monotonic() < deadline, "the job did not come to its wait"
        await asyncio.sleep(0.05)


def job_of(stranger: Stranger) -> str:
    return stranger.handle.id.rpartition("/")[2]


@pytest.mark.usefixtures("worker")
async def test_a_job_that_is_sent_a_malformed_resume_is_cancelled_all_the_same(
    client: MnesticClient,
) -> None:
    async def end(payloads: list[Payload]) -> BaseException | None:
        stranger = await started(client)
        await until_waiting(client, job_of(stranger))
        await stranger.signal("resume", payloads)
        await client.cancel_job(job_of(stranger))
        with pytest.raises(WorkflowFailureError) as ended:
            await asyncio.wait_for(stranger.handle.result(), 60)
        return ended.value.cause

    causes = await asyncio.gather(*(end(payloads) for payloads in ANY.values()))

    assert {type(cause) for cause in causes} == {CancelledError}


@pytest.mark.usefixtures("worker")
async def test_a_job_refuses_whatever_is_malformed_and_resumes(client: MnesticClient) -> None:
    stranger = await started(client)
    await until_waiting(client, job_of(stranger))

    await stranger.send_everything()

    status = await stranger.handle.query("status")
    assert (status["state"], status["waits"]) == ("waiting", 1)
    assert len(status["refused"]) == 20
    receipt = await client.resume_job(job_of(stranger), {})
    assert receipt is not None
    assert receipt.verified
    assert (await client.wait_for_result(job_of(stranger))).waits == 1


@pytest.mark.usefixtures("worker")
async def test_a_job_tells_what_it_refused_and_quotes_nothing_of_it(client: MnesticClient) -> None:
    stranger = await started(client)
    await until_waiting(client, job_of(stranger))

    for label in ("no argument", "null", "bytes", "two arguments", "wrong types"):
        await stranger.signal("resume", ANY[label])
    await stranger.signal("pause", [json_of('"secret"')])
    status = await stranger.handle.query("status")

    assert status["refused"] == [
        "resume: signal resume takes one argument, a ResumeRequest, and was sent 0",
        "resume: signal resume takes a ResumeRequest as JSON; what was sent has the encoding binary/null",
        "resume: signal resume takes a ResumeRequest as JSON; what was sent has the encoding binary/plain",
        "resume: signal resume takes one argument, a ResumeRequest, and was sent 2",
        "resume: signal resume takes a ResumeRequest: request_id: Input should be a valid string",
        "pause: signal pause takes no argument",
    ]
    assert await stranger.update("resume", []) == (
        "update resume takes one argument, a ResumeRequest, and was sent 0"
    )
    assert "query status takes no argument" in (
        await stranger.query("status", [json_of("5")]) or ""
    )


async def test_a_job_refuses_what_came_before_its_first_step(
    client: MnesticClient, run_worker: RunWorker
) -> None:
    stranger = await started(client)
    await asyncio.gather(*(stranger.signal("resume", payloads) for payloads in ANY.values()))

    async with run_worker():
        await until_waiting(client, job_of(stranger))
        await client.poke_job(job_of(stranger))
        await client.resume_job(job_of(stranger), {})
        result = await client.wait_for_result(job_of(stranger))

    assert result.waits == 1


@pytest.mark.usefixtures("worker")
async def test_a_job_is_paused_by_a_signal_of_null_which_other_languages_send_for_nothing(
    client: MnesticClient,
) -> None:
    stranger = await started(client)
    await until_waiting(client, job_of(stranger))

    await stranger.signal("pause", [NULL])

    assert (await stranger.handle.query("status"))["state"] == "paused"


@pytest.mark.usefixtures("worker")
async def test_an_inbox_takes_nothing_malformed_amiss(client: MnesticClient) -> None:
    tenant = client.settings.tenant_id
    handle = await client.temporal.start_workflow(
        AGENT_INBOX,
        InboxInput(tenant_id=tenant, agent_id="ada"),
        id=inbox_workflow_id(tenant, "ada"),
        task_queue=client.settings.task_queue,
    )
    stranger = Stranger(client, handle.id)

    await stranger.send_everything()

    deadline = time.monotonic() + 30
    while (await handle.query("status"))["refused"] < len(MALFORMED):
        assert time.monotonic() < deadline
        await asyncio.sleep(0.05)
    await handle.cancel()
    with pytest.raises(WorkflowFailureError) as ended:
        await asyncio.wait_for(handle.result(), 20)
    assert isinstance(ended.value.cause, CancelledError)


async def test_learning_goes_on_whatever_it_is_sent(
    client: MnesticClient, run_worker: RunWorker
) -> None:
    said = Resource(
        session_id="s1",
        source_id="m1",
        channel="chat",
        speaker="Mara",
        content="I live in Utrecht.",
        at=datetime(2026, 3, 2, 12, tzinfo=UTC),
    )
    await client.memory("ada").ingest([said])
    handle = await start_ingest(client, agent_id="ada")
    stranger = Stranger(client, handle.id)
    await asyncio.gather(*(stranger.signal("more", payloads) for payloads in ANY.values()))

    async with run_worker():
        await asyncio.wait_for(handle.result(), 30)
        signals, updates, _ = await stranger.handlers()
        whys = await asyncio.gather(
            *(stranger.query("learned", payloads) for payloads in MALFORMED.values())
        )

    assert (signals, updates) == ({"more"}, set())
    assert sum(not why for why in whys) == 1  # null
    assert (await client.memory("ada").messages.count()).learned == 1


@pytest.mark.usefixtures("worker")
async def test_a_forgetting_has_nothing_that_is_sent_to_it(client: MnesticClient) -> None:
    await forget(client.memory("ada"), "Falcon")
    ours = f"WorkflowId STARTS_WITH 'forget/{client.settings.tenant_id}/'"
    deadline = time.monotonic() + 30
    while not (found := [one.id async for one in client.temporal.list_workflows(ours)]):
        assert time.monotonic() < deadline
        await asyncio.sleep(0.1)

    signals, updates, queries = await Stranger(client, found[0]).handlers()

    assert not (signals | updates)
    assert all(name.startswith("__") for name in queries)


async def test_a_workflow_of_ones_own_waits_on_whatever_its_memory_is_sent(
    client: MnesticClient, memory: PostgresMemory
) -> None:
    scope = Scope(tenant_id=client.settings.tenant_id, agent_id="ada", session_id="s1")
    worker = Worker(
        client.temporal,
        task_queue=client.settings.task_queue,
        workflows=[Own],
        activities=activities_of(memory, model=LocalChatModel(), summariser=LocalSummariser()),
    )
    async with worker:
        handle = await client.temporal.start_workflow(
            Own.run,
            Asked(scope=scope),
            id=job_workflow_id(client.settings.tenant_id, "own"),
            task_queue=client.settings.task_queue,
        )
        stranger = Stranger(client, handle.id)
        await until_waiting(client, "own")
        signals, *_ = await stranger.handlers()
        assert signals >= {"tell", "resume"}  # the first is theirs
        await stranger.send_everything(but={"tell"})
        await handle.signal("tell", "hello")
        await client.resume_job("own", {})

        assert await asyncio.wait_for(handle.result(), 20) == ["resumed", "hello"]


STARTS = {
    AGENT_JOB: AgentJob,
    AGENT_INBOX: AgentInbox,
    INGEST_MESSAGES: IngestMessages,
    FORGET_TOPIC: ForgetTopic,
    MAINTENANCE: Maintenance,
}


@pytest.mark.usefixtures("worker")
@pytest.mark.parametrize("name", STARTS)
async def test_a_workflow_that_is_started_with_what_is_malformed_fails_once(
    client: MnesticClient, name: str
) -> None:
    async def start(payloads: list[Payload]) -> str:
        workflow_id = f"start/{client.settings.tenant_id}/{uuid.uuid4().hex}"
        await client.temporal.workflow_service.start_workflow_execution(
            StartWorkflowExecutionRequest(
                namespace=client.temporal.namespace,
                workflow_id=workflow_id,
                workflow_type=WorkflowType(name=name),
                task_queue=TaskQueue(name=client.settings.task_queue),
                input=Payloads(payloads=payloads),
                request_id=uuid.uuid4().hex,
            )
        )
        return workflow_id

    async def failure_of(payloads: list[Payload]) -> BaseException | None:
        handle = client.temporal.get_workflow_handle(await start(payloads))
        with pytest.raises(WorkflowFailureError) as failed:
            await asyncio.wait_for(handle.result(), 30)
        return failed.value.cause

    causes = await asyncio.gather(*(failure_of(payloads) for payloads in ANY.values()))

    for cause in causes:
        assert isinstance(cause, ApplicationError)
        assert cause.type == "InvalidInputError"
        assert "takes" in cause.message or "2 values were sent" in cause.message


def test_every_workflow_of_the_plugin_is_sent_what_is_malformed() -> None:
    registered = MnesticPlugin().workflows
    assert isinstance(registered, list)
    assert set(registered) == set(STARTS.values())
