"""What a waiting job shows of itself in the Temporal UI."""

import asyncio
import time
from datetime import UTC, datetime, timedelta

import pytest
from temporalio.api.sdk.v1 import WorkflowMetadata
from temporalio.client import WorkflowHandle
from temporalio.common import SearchAttributeKey

from mnestic.memory.jobs.agent_job import JobStatus
from mnestic.memory.names import STATUS, job_workflow_id
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.jobs.plans import parse_plan

PLAN = """
name: order-approval
nodes:
  - {id: note, kind: remember, message: {content: Order 42 is waiting.}, next: approval}
  - id: approval
    kind: wait
    key: approval
    ask: May order ${input.order} go out?
    timeout: 21d
    on: {resumed: end, refused: end, timeout: end}
"""
LOOK = """
name: look
nodes:
  - {id: look, kind: recall, records: [{namespace: profile}], next: say}
  - id: say
    kind: emit
    channel: chat
    content: ${memory.variables.look.records.profile.secret}
    next: end
"""
pytestmark = pytest.mark.usefixtures("worker")
KEYWORDS = ("JobState", "WaitKey", "AgentId", "SessionId", "TenantId")


@pytest.fixture
async def waiting(client: MnesticClient) -> WorkflowHandle[object, object]:
    plan = parse_plan(PLAN, source="test")
    job_id = await client.start_job(plan, agent_id="ada", session_id="s1", inputs={"order": 42})
    deadline = time.monotonic() + 30
    while (await client.describe_job(job_id)).state != "waiting":
        assert time.monotonic() < deadline, "the job did not wait in time"
        await asyncio.sleep(0.05)
    workflow_id = job_workflow_id(client.settings.tenant_id, job_id)
    return client.temporal.get_workflow_handle(workflow_id)


async def test_a_waiting_job_can_be_searched_for(
    waiting: WorkflowHandle[object, object], client: MnesticClient
) -> None:
    found = (await waiting.describe()).typed_search_attributes

    shown = {name: found.get(SearchAttributeKey.for_keyword(name)) for name in KEYWORDS}
    deadline = found.get(SearchAttributeKey.for_datetime("WaitDeadline"))
    assert shown == {
        "JobState": "waiting",
        "WaitKey": "approval",
        "AgentId": "ada",
        "SessionId": "s1",
        "TenantId": client.settings.tenant_id,
    }
    assert deadline is not None
    assert timedelta(days=20) < deadline - datetime.now(UTC) < timedelta(days=22)


async def test_the_card_tells_a_person_what_the_job_waits_for(
    waiting: WorkflowHandle[object, object],
) -> None:
    metadata = await waiting.query("__temporal_workflow_metadata", result_type=WorkflowMetadata)

    card = metadata.current_details
    assert "### Waiting for approval" in card
    assert "May order 42 go out?" in card
    assert "resumed, refused, timeout" in card
    assert "1 messages, 0 episodes, 0 records" in card
    assert f"job resume {waiting.id.rpartition('/')[2]} --payload '{{}}'\n```" in card


async def test_the_memo_names_the_snapshot_without_its_content(
    waiting: WorkflowHandle[object, object],
) -> None:
    memo = await (await waiting.describe()).memo()
    status = await waiting.query(STATUS, result_type=JobStatus)

    assert status.open_wait is not None
    assert memo["mnestic"]["sha256"] == status.open_wait.snapshot.sha256
    assert memo["mnestic"]["wait_id"] == status.open_wait.wait_id
    assert "Order 42" not in str(memo)


async def test_the_history_holds_no_memory_text_but_what_the_plan_says(
    client: MnesticClient,
) -> None:
    memory = client.memory("ada")
    await memory.records.set("profile", "secret", "the vault is behind the mirror")
    job_id = await client.start_job(
        parse_plan(LOOK, source="test"), agent_id="ada", session_id="s2"
    )

    await client.wait_for_result(job_id)

    handle = client.temporal.get_workflow_handle(job_workflow_id(client.settings.tenant_id, job_id))
    history = (await handle.fetch_history()).to_json()
    state = await memory.working_memory.get("s2")
    assert state.messages[0].content == "the vault is behind the mirror"
    assert "mirror" not in history
