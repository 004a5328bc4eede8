"""Whatever is sent to a workflow, and whatever it is started with, none is left unable to go on.

Signals, updates, queries and inputs are sent as anybody may send them: past our client, as bytes.
"""

import asyncio
import uuid
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime
from typing import Any

import pytest
from temporalio.api.common.v1 import Payload, Payloads, WorkflowType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import StartWorkflowExecutionRequest
from temporalio.client import WorkflowFailureError, WorkflowHandle
from temporalio.exceptions import ApplicationError, CancelledError

from mnestic.memory.knowledge.resources import Resource
from mnestic.memory.names import (
    AGENT_INBOX,
    AGENT_JOB,
    FLUSH_RECORDS,
    FORGET_TOPIC,
    INDEX_VECTORS,
    INGEST_MESSAGES,
    MAINTENANCE,
    inbox_workflow_id,
    job_workflow_id,
)
from mnestic.starter.client.ingestion import start_ingest
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.jobs.plans import parse_plan
from mnestic.workflows.forgetting.forget_topic import ForgetTopic
from mnestic.workflows.jobs.agent_job import AgentJob
from mnestic.workflows.jobs.flush_records import FlushRecords
from mnestic.workflows.knowledge.agent_inbox import AgentInbox, InboxInput
from mnestic.workflows.knowledge.ingest_messages import IngestMessages
from mnestic.workflows.maintenance.index_vectors import IndexVectors
from mnestic.workflows.maintenance.maintenance import Maintenance
from mnestic.workflows.plugin import MnesticPlugin
from tests.job_states import until_state
from tests.security.strangers import ANY, MALFORMED, NULL, Stranger, json_of
from tests.workflows.forgetting.forget_samples import forget

pytestmark = pytest.mark.acceptance  # every handler gets 29 kinds of payloads

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


async def ending_of(handle: WorkflowHandle[Any, Any]) -> BaseException | None:
    """Why a workflow failed or was cancelled."""
    with pytest.raises(WorkflowFailureError) as ended:
        await asyncio.wait_for(handle.result(), 60)
    return ended.value.cause


def job_of(stranger: Stranger) -> str:
    return stranger.handle.id.rpartition("/")[2]


@pytest.mark.usefixtures("worker")
async def test_a_job_refuses_whatever_is_malformed_says_why_and_resumes(
    client: MnesticClient, caplog: pytest.LogCaptureFixture
) -> None:
    stranger = await started(client)
    await until_state(client, job_of(stranger))

    for label in ("no argument", "null", "bytes", "two arguments", "wrong types"):
        await stranger.signal("resume", ANY[label])
    await stranger.signal("pause", [json_of('"secret"')])
    told = (await stranger.handle.query("status"))["refused"]
    logged = [one for one in caplog.records if one.levelname == "WARNING"]
    await stranger.send_everything()
    status = await stranger.handle.query("status")
    await stranger.signal("pause", [NULL])  # which other languages send for nothing
    paused = (await stranger.handle.query("status"))["state"]
    await stranger.signal("unpause", [])
    receipt = await client.resume_job(job_of(stranger), {})

    assert told == [
        "resume: signal resume takes one argument, a ResumeRequest, and was sent 0",
        "resume: signal resume takes a ResumeRequest as JSON; what was sent has the encoding binary/null",
        "resume: signal resume takes a ResumeRequest as JSON; what was sent has the encoding binary/plain",
        "resume: signal resume takes one argument, a ResumeRequest, and was sent 2",
        "resume: signal resume takes a ResumeRequest: request_id: Input should be a valid string",
        "pause: signal pause takes no argument",
    ]
    assert [(one.name, one.message) for one in logged] == [("mnestic.signals", "signal refused")]
    assert vars(logged[0])["workflow_id"] == stranger.handle.id
    assert (status["state"], status["waits"], paused) == ("waiting", 1, "paused")
    assert len(status["refused"]) == 20
    assert receipt is not None
    assert receipt.verified
    assert (await client.wait_for_result(job_of(stranger))).waits == 1


async def test_a_job_refuses_what_came_before_its_first_step(
    client: MnesticClient, run_worker: RunWorker
) -> None:
    resumed, cancelled = await started(client), await started(client)
    for stranger in (resumed, cancelled):
        await asyncio.gather(*(stranger.signal("resume", payloads) for payloads in ANY.values()))
    await client.cancel_job(job_of(cancelled))

    async with run_worker():
        await until_state(client, job_of(resumed))
        await client.poke_job(job_of(resumed))
        await client.resume_job(job_of(resumed), {})
        result = await client.wait_for_result(job_of(resumed))
        ended = await ending_of(cancelled.handle)

    assert result.waits == 1
    assert isinstance(ended, CancelledError)


@pytest.mark.usefixtures("worker")
async def test_an_inbox_and_a_forgetting_take_nothing_malformed_amiss(
    client: MnesticClient,
) -> None:
    tenant = client.settings.tenant_id
    handle = await client.temporal.start_workflow(
        AGENT_INBOX,
        InboxInput(tenant_id=tenant, agent_id="ada"),
        id=inbox_workflow_id(tenant, "ada"),
        task_queue=client.settings.task_queue,
    )
    await forget(client.memory("ada"), "Falcon")
    ours = f"WorkflowId STARTS_WITH 'forget/{tenant}/'"

    await Stranger(client, handle.id).send_everything()
    async with asyncio.timeout(30):
        while (await handle.query("status"))["refused"] < len(MALFORMED):  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.05)
        while not (found := [one.id async for one in client.temporal.list_workflows(ours)]):  # noqa: ASYNC110
            await asyncio.sleep(0.1)
    await handle.cancel()
    signals, updates, queries = await Stranger(client, found[0]).handlers()

    assert isinstance(await ending_of(handle), CancelledError)
    assert not (signals | updates)
    assert all(name.startswith("__") for name in queries)


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


STARTS = {
    AGENT_JOB: AgentJob,
    AGENT_INBOX: AgentInbox,
    INGEST_MESSAGES: IngestMessages,
    FLUSH_RECORDS: FlushRecords,
    FORGET_TOPIC: ForgetTopic,
    INDEX_VECTORS: IndexVectors,
    MAINTENANCE: Maintenance,
}


@pytest.mark.usefixtures("worker")
async def test_each_workflow_that_is_started_with_what_is_malformed_fails_once(
    client: MnesticClient,
) -> None:
    async def failure_of(name: str, payloads: list[Payload]) -> BaseException | None:
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
        return await ending_of(client.temporal.get_workflow_handle(workflow_id))

    registered = MnesticPlugin().workflows
    assert isinstance(registered, list)
    assert set(registered) == set(STARTS.values())
    for name in STARTS:
        for cause in await asyncio.gather(
            *(failure_of(name, payloads) for payloads in ANY.values())
        ):
            assert isinstance(cause, ApplicationError)
            assert cause.type == "InvalidInputError"
            assert "takes" in cause.message or "2 values were sent" in cause.message
