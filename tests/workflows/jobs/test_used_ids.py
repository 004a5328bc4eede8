"""Operations of a job whose id, or whose work, comes again: another job's are refused, its own are found."""

import uuid
from typing import Any

import pytest
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.workflowservice.v1 import ResetWorkflowExecutionRequest
from temporalio.client import WorkflowFailureError, WorkflowHandle

from mnestic.memory.jobs.agent_job import JobInput, JobResult
from mnestic.memory.jobs.waits import ResumeRequest
from mnestic.memory.names import AGENT_JOB, RESUME
from mnestic.memory.scope import Scope
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.jobs.plans import parse_plan
from tests.workflows.conftest import Jobs, plan_of

pytestmark = pytest.mark.usefixtures("worker")
JOB = "again"
SAYS_FIRST = plan_of("says")
WAITS_FIRST = plan_of("waits")


async def start(client: MnesticClient, plan: str) -> WorkflowHandle[Any, JobResult]:
    """Starts a job past the check of its id, as one that is started by Temporal's own client."""
    settings = client.settings
    scope = Scope(tenant_id=settings.tenant_id, agent_id="ada", session_id="s1")
    return await client.temporal.start_workflow(
        AGENT_JOB,
        JobInput(job_id=JOB, scope=scope, plan=parse_plan(plan, source="test")),
        id=f"elsewhere/{uuid.uuid4().hex}",
        task_queue=settings.task_queue,
        result_type=JobResult,
    )


@pytest.mark.parametrize(
    ("plan", "refused"),
    [(SAYS_FIRST, f"node say failed: operation {JOB}/0/1/remember was recorded before"),
     (WAITS_FIRST, f"node ask failed: operation {JOB}/w1/open_wait was recorded before")],
)  # fmt: skip
async def test_a_second_job_of_an_id_fails_and_takes_nothing_from_the_first(
    jobs: Jobs, plan: str, refused: str
) -> None:
    first = await start(jobs, plan)
    await first.signal(RESUME, ResumeRequest(request_id="r1", payload="of the first"))
    done = await first.result()

    second = await start(jobs, plan)
    await second.signal(RESUME, ResumeRequest(request_id="r2", payload="of the second"))
    with pytest.raises(WorkflowFailureError) as failed:
        await second.result()

    (kept,) = await jobs.told(JOB, "restored")
    assert refused in str(failed.value.cause)
    assert done.results["ask"]["payload"] == "of the first"
    assert kept.detail["request_id"] == "r1"


async def test_a_job_that_is_reset_finds_what_it_has_done(jobs: Jobs) -> None:
    job_id = await jobs.start_waiting()
    handle = jobs.handle(job_id)
    before = await jobs.waits(job_id)
    first = (await handle.describe()).run_id
    history = await handle.fetch_history()
    done = next(e for e in history.events if e.HasField("workflow_task_completed_event_attributes"))
    reset = ResetWorkflowExecutionRequest(
        namespace=jobs.temporal.namespace,
        workflow_execution=WorkflowExecution(workflow_id=handle.id, run_id=first),
        workflow_task_finish_event_id=done.event_id,
        request_id=uuid.uuid4().hex,
    )

    await jobs.temporal.workflow_service.reset_workflow_execution(reset)

    async def waits_again() -> bool:
        is_other = (await handle.describe()).run_id != first
        return is_other and (await jobs.describe_job(job_id)).state == "waiting"

    await jobs.until(waits_again)
    await jobs.resume_job(job_id, {"word": "dear"})
    await jobs.wait_for_result(job_id)
    (after,) = await jobs.waits(job_id)
    assert await jobs.texts() == ["My name is Mara.", "Hello dear, Mara."]
    assert (after.wait_id, after.snapshot_id) == (before[0].wait_id, before[0].snapshot_id)
