"""Forks a job: chooses the wait, snapshot and plan that the new job starts with."""

from dataclasses import dataclass

from temporalio.client import Client, WorkflowExecutionDescription

from mnestic.memory.errors import AlreadyExistsError, InvalidInputError
from mnestic.memory.jobs.agent_job import JobInput, JobProgress
from mnestic.memory.jobs.plans import Plan
from mnestic.memory.jobs.waits import ForkOrigin
from mnestic.memory.names import job_workflow_id
from mnestic.memory.ports import Memory
from mnestic.memory.scope import Scope, check_id
from mnestic.starter.jobs.lookup import find_job, owner_of
from mnestic.starter.jobs.resumptions import read_input
from mnestic.starter.jobs.start import check_plan_size, new_job_id
from mnestic.starter.jobs.waits import choose_wait, hash_of_snapshot
from mnestic.starter.settings import Settings


@dataclass(frozen=True, kw_only=True)
class ForkTerms:
    """The arguments of a fork; see `MnesticClient.fork_job`."""

    job_id: str
    wait: int | str | None
    as_job: str | None
    session_id: str | None
    plan: Plan | None
    priority: int | None


async def fork_input(
    temporal: Client, memory: Memory, terms: ForkTerms, *, settings: Settings
) -> tuple[JobInput, int | None]:
    """The input of a job that begins at a wait of another one, and its priority.

    See `MnesticClient.fork_job`.
    """
    tenant_id, job_id = settings.tenant_id, terms.job_id
    execution = await find_job(temporal.get_workflow_handle(job_workflow_id(tenant_id, job_id)))
    agent_id = await owner_of(execution, job_id=job_id, tenant_id=tenant_id, memory=memory)
    async with memory.transaction(
        tenant_id=tenant_id, agent_id=agent_id, actor="client", write=False
    ) as transaction:
        wait = await choose_wait(transaction.waits, terms.wait, job_id=job_id)
        if terms.session_id and (await transaction.working.find_ref(terms.session_id)).version:
            raise AlreadyExistsError(what="working memory of session", name=terms.session_id)
        context = wait.context
        plan = terms.plan or await transaction.plans.find(context.plan_decision_id)
    inputs = context.inputs
    if plan is None or context.memory_snapshot is None:  # of 0.1.0, which stored less
        started = await read_input(temporal, job_workflow_id(tenant_id, job_id))
        plan, inputs = plan or started.plan, started.inputs
    check_plan_size(plan)
    if context.cursor_node not in {node.id for node in plan.nodes if node.kind == "wait"}:
        why = f"has no wait {context.cursor_node!r}, at which the fork begins"
        raise InvalidInputError(what=f"plan {plan.name}", why=why)
    sha256 = await hash_of_snapshot(wait, execution, temporal=temporal, memory=memory)
    new_id = check_id(new_job_id() if terms.as_job is None else terms.as_job, what="job id")
    session_id = check_id(new_id if terms.session_id is None else terms.session_id, what="session")
    job_input = JobInput(
        job_id=new_id,
        scope=Scope(tenant_id=tenant_id, agent_id=agent_id, session_id=session_id),
        plan=plan,
        inputs=inputs,
        max_payload_bytes=settings.max_payload_bytes,
        progress=JobProgress(cursor=context.cursor_node, results=context.payload_results),
        origin=ForkOrigin(
            job_id=job_id, wait_id=wait.wait_id, snapshot_id=wait.snapshot_id, sha256=sha256
        ),
    )
    return job_input, terms.priority if terms.priority is not None else _priority_of(execution)


def _priority_of(job: WorkflowExecutionDescription | None) -> int | None:
    """The priority that a job was started with; None if Temporal no longer has the job."""
    if job is None:
        return None
    return job.raw_description.workflow_execution_info.priority.priority_key or None
