"""Starts a job: a new one from a plan, or a fork of another."""

import uuid
from collections.abc import Mapping
from typing import Any

from temporalio.client import Client
from temporalio.common import (
    SearchAttributeKey,
    SearchAttributePair,
    TypedSearchAttributes,
    WorkflowIDReusePolicy,
)
from temporalio.exceptions import WorkflowAlreadyStartedError

from mnestic.activities.jobs.segments import find_contract
from mnestic.memory.canonical import canonical_json, check_size
from mnestic.memory.errors import AlreadyExistsError, PayloadTooLargeError
from mnestic.memory.jobs.agent_job import JobInput
from mnestic.memory.jobs.plan_checks import check_inputs
from mnestic.memory.jobs.plans import Plan
from mnestic.memory.names import AGENT_JOB, job_workflow_id, plan_attribute
from mnestic.memory.ports import Memory
from mnestic.memory.scope import Scope, check_id
from mnestic.starter.jobs.plans import require_sound
from mnestic.starter.jobs.priorities import priority_of
from mnestic.starter.settings import Settings

LARGEST_PLAN_BYTES = 262_144
_NEVER_AGAIN = WorkflowIDReusePolicy.REJECT_DUPLICATE


def check_job(
    plan: Plan,
    *,
    agent_id: str,
    session_id: str,
    inputs: Mapping[str, Any] | None,
    job_id: str | None,
    settings: Settings,
) -> JobInput:
    """The input of a job, checked.

    Raises:
        InvalidInputError: the plan is unsound, an id is malformed, or the inputs are too large or lack
            what the plan names.
    """
    require_sound(plan)
    check_plan_size(plan)
    inputs = dict(inputs or {})
    check_size(inputs, what="inputs", limit_bytes=settings.max_payload_bytes)
    check_inputs(plan, inputs)
    return JobInput(
        job_id=check_id(new_job_id() if job_id is None else job_id, what="job id"),
        scope=Scope(
            tenant_id=check_id(settings.tenant_id, what="tenant"),
            agent_id=check_id(agent_id, what="agent"),
            session_id=check_id(session_id, what="session"),
        ),
        plan=plan,
        inputs=inputs,
        max_payload_bytes=settings.max_payload_bytes,
    )


def new_job_id() -> str:
    """An id that no other job has."""
    return uuid.uuid4().hex[:12]


async def start_job(
    temporal: Client,
    memory: Memory,
    job_input: JobInput,
    *,
    settings: Settings,
    priority: int | None = None,
) -> None:
    """Stores the plan, for forks after Temporal has dropped the history, pins the contract, and starts the workflow.

    Raises:
        InvalidInputError: there is no such priority.
        AlreadyExistsError: a job of that id was started before.
    """
    scope = job_input.scope
    order = priority_of(tenant_id=scope.tenant_id, level=priority, weight=settings.tenant_weight)
    if await memory.find_agent(tenant_id=scope.tenant_id, job_id=job_input.job_id) is not None:
        raise AlreadyExistsError(
            what="job", name=job_input.job_id
        )  # also one that Temporal no longer has
    async with memory.transaction(
        tenant_id=scope.tenant_id, agent_id=scope.agent_id, actor="client", write=True
    ) as transaction:
        await transaction.plans.put(job_input.plan)
        contract = await find_contract(transaction, scope.agent_id)
    job_input = job_input.model_copy(update={"contract": contract})
    memo: dict[str, Any] = {"plan": job_input.plan.name}
    if job_input.origin is not None:
        memo["forked_from"] = job_input.origin.wait_id
    try:
        await temporal.start_workflow(
            AGENT_JOB,
            job_input,
            id=job_workflow_id(scope.tenant_id, job_input.job_id),
            task_queue=settings.task_queue,
            id_reuse_policy=_NEVER_AGAIN,
            priority=order,
            memo=memo,
            search_attributes=_search_attributes(scope, plan=job_input.plan.name),
            static_summary=f"{job_input.plan.name} of {scope.agent_id}",
        )
    except WorkflowAlreadyStartedError:
        raise AlreadyExistsError(what="job", name=job_input.job_id) from None


def check_plan_size(plan: Plan) -> None:
    """Refuses a plan that is too large to travel with its job.

    Raises:
        PayloadTooLargeError: the message has both sizes.
    """
    size = len(canonical_json(plan.model_dump(mode="json")))
    if size > LARGEST_PLAN_BYTES:
        raise PayloadTooLargeError(what="plan", size_bytes=size, limit_bytes=LARGEST_PLAN_BYTES)


def _search_attributes(scope: Scope, *, plan: str) -> TypedSearchAttributes:
    values = {
        "JobState": "running",
        "TenantId": scope.tenant_id,
        "AgentId": scope.agent_id,
        "SessionId": scope.session_id,
        "PlanName": plan_attribute(plan),
    }
    return TypedSearchAttributes(
        [SearchAttributePair(SearchAttributeKey.for_keyword(k), v) for k, v in values.items()]
    )
