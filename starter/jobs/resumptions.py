"""Reads what a job continues with: a wait, its snapshot, which is verified, and the plan."""

from temporalio.api.enums.v1 import EventType
from temporalio.client import Client

from mnestic.memory.errors import NotFoundError
from mnestic.memory.jobs.agent_job import JobInput
from mnestic.memory.jobs.plans import Plan
from mnestic.memory.jobs.resumptions import Resumption
from mnestic.memory.names import AGENT_JOB, job_workflow_id
from mnestic.memory.ports import Memory
from mnestic.starter.jobs.lookup import find_job, owner_of
from mnestic.starter.jobs.waits import choose_wait, hash_of_snapshot


async def read_resumption(
    temporal: Client, *, job_id: str, tenant_id: str, wait: int | str | None, memory: Memory
) -> Resumption:
    """Reads a wait and its snapshot; see `MnesticClient.job_resumption`."""
    execution = await find_job(temporal.get_workflow_handle(job_workflow_id(tenant_id, job_id)))
    agent_id = await owner_of(execution, job_id=job_id, tenant_id=tenant_id, memory=memory)
    async with memory.transaction(
        tenant_id=tenant_id, agent_id=agent_id, actor="client", write=False
    ) as transaction:
        chosen = await choose_wait(transaction.waits, wait, job_id=job_id)
    sha256 = await hash_of_snapshot(chosen, execution, temporal=temporal, memory=memory)
    async with memory.transaction(
        tenant_id=tenant_id, agent_id=agent_id, actor="client", write=False
    ) as transaction:
        sealed = await transaction.snapshots.get(chosen.snapshot_id, sha256=sha256)
    return Resumption(
        wait=chosen,
        snapshot=sealed.read(),
        snapshot_sha256=sha256,
        redacted_at=sealed.redacted_at,
    )


async def read_plan(temporal: Client, *, job_id: str, tenant_id: str, memory: Memory) -> Plan:
    """The plan of a job; see `MnesticClient.job_plan`."""
    workflow_id = job_workflow_id(tenant_id, job_id)
    execution = await find_job(temporal.get_workflow_handle(workflow_id))
    agent_id = await owner_of(execution, job_id=job_id, tenant_id=tenant_id, memory=memory)
    async with memory.transaction(
        tenant_id=tenant_id, agent_id=agent_id, actor="client", write=False
    ) as transaction:
        waits = await transaction.waits.list_latest(job_id, limit=1)
        stored = await transaction.plans.find(waits[0].context.plan_decision_id) if waits else None
    if stored is not None:
        return stored
    if execution is None:
        raise NotFoundError(what="plan of job", name=job_id)
    return (await read_input(temporal, workflow_id)).plan


async def read_input(temporal: Client, workflow_id: str) -> JobInput:
    """The input that a job was started with, from its history.

    Raises:
        NotFoundError: it is no job with a plan, or Temporal no longer has it.
    """
    async for event in temporal.get_workflow_handle(workflow_id).fetch_history_events():
        started = event.workflow_execution_started_event_attributes
        if event.event_type != EventType.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED:
            break
        if started.workflow_type.name == AGENT_JOB:
            payloads = started.input.payloads
            inputs: list[JobInput] = await temporal.data_converter.decode(payloads, [JobInput])
            return inputs[0]
    raise NotFoundError(what="plan of job", name=workflow_id.rpartition("/")[2])
