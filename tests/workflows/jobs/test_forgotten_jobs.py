"""Jobs that Temporal has forgotten, as it does after its retention; deleting one takes half a minute."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.workflowservice.v1 import DeleteWorkflowExecutionRequest
from temporalio.service import RPCError

from mnestic.memory.errors import AlreadyExistsError
from mnestic.memory.names import job_workflow_id
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.jobs.plans import parse_plan

pytestmark = [pytest.mark.acceptance, pytest.mark.usefixtures("worker")]


@pytest.fixture
async def forgotten(
    client: MnesticClient,
    start_waiting: Callable[..., Awaitable[str]],
    until: Callable[..., Awaitable[Any]],
) -> str:
    """A job that was resumed by r1, and is over."""
    job_id = await start_waiting()
    await client.resume_job(job_id, {"word": "dear"}, request_id="r1")
    await client.wait_for_result(job_id)
    workflow_id = job_workflow_id(client.settings.tenant_id, job_id)
    await client.temporal.workflow_service.delete_workflow_execution(
        DeleteWorkflowExecutionRequest(
            namespace=client.temporal.namespace,
            workflow_execution=WorkflowExecution(workflow_id=workflow_id),
        )
    )

    async def is_gone() -> bool:
        try:
            await client.temporal.get_workflow_handle(workflow_id).describe()
        except RPCError:
            return True
        return False

    await until(is_gone, limit_s=120)
    return job_id


async def test_its_receipts_stay_and_its_id_is_not_given_to_another(
    client: MnesticClient, forgotten: str, greeting: str
) -> None:
    by_update = await client.resume_job(forgotten, {"word": "dear"}, request_id="r1")
    by_signal = await client.resume_job(forgotten, {"word": "dear"}, request_id="r1", by="signal")
    with pytest.raises(AlreadyExistsError, match=forgotten):
        await client.start_job(
            parse_plan(greeting, source="test"),
            agent_id="ada",
            session_id="s2",
            inputs={"name": "Mara"},
            job_id=forgotten,
        )
    shown = await client.describe_job(forgotten)

    assert by_update is not None
    assert by_update.wait_id == f"{forgotten}/w1"
    assert by_signal == by_update
    assert (shown.state, shown.plan, shown.failure) == ("completed", "greeting", None)
    assert [wait.state for wait in shown.waits] == ["resumed"]
