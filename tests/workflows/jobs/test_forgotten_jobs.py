"""Jobs that Temporal has forgotten, as it does after its retention; deleting one takes half a minute."""

import pytest
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.workflowservice.v1 import DeleteWorkflowExecutionRequest
from temporalio.service import RPCError

from mnestic.memory.errors import AlreadyExistsError
from tests.workflows.conftest import Jobs

pytestmark = [pytest.mark.acceptance, pytest.mark.usefixtures("worker")]


async def test_its_receipts_stay_and_its_id_is_not_given_to_another(jobs: Jobs) -> None:
    async def is_gone() -> bool:
        try:
            await handle.describe()
        except RPCError:
            return True
        return False

    job_id = await jobs.start_waiting()
    handle = jobs.handle(job_id)
    await jobs.resume_job(job_id, {"word": "dear"}, request_id="r1")
    await jobs.wait_for_result(job_id)
    await jobs.temporal.workflow_service.delete_workflow_execution(
        DeleteWorkflowExecutionRequest(
            namespace=jobs.temporal.namespace,
            workflow_execution=WorkflowExecution(workflow_id=handle.id),
        )
    )
    await jobs.until(is_gone, limit_s=120)

    by_update = await jobs.resume_job(job_id, {"word": "dear"}, request_id="r1")
    by_signal = await jobs.resume_job(
        job_id, {"word": "dear"}, request_id="r1", by="signal", any_wait=True
    )
    with pytest.raises(AlreadyExistsError, match=job_id):
        await jobs.start(session_id="s2", job_id=job_id)
    shown = await jobs.describe_job(job_id)

    assert by_update is not None
    assert by_update.wait_id == f"{job_id}/w1"
    assert by_signal == by_update
    assert (shown.state, shown.plan, shown.failure) == ("completed", "greeting", None)
    assert [wait.state for wait in shown.waits] == ["resumed"]
