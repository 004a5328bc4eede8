"""Forking a job: which wait, which snapshot, which plan a new job begins with."""

from dataclasses import dataclass
from typing import Any

from temporalio.api.enums.v1 import EventType
from temporalio.client import WorkflowHandle

from mnestic.memory.errors import InvalidInputError, NotFoundError, SnapshotUnverifiedError
from mnestic.memory.jobs import JobInput, JobProgress
from mnestic.memory.names import wait_id
from mnestic.memory.plans import Plan
from mnestic.memory.ports import Memory, Transaction
from mnestic.memory.scope import Scope, check_id
from mnestic.memory.waits import ForkOrigin, JobWait
from mnestic.starter.job_listing import agent_of, list_all_waits
from mnestic.starter.settings import Settings
from mnestic.starter.starting import new_job_id


@dataclass(frozen=True, kw_only=True)
class ForkTerms:
    """What a fork is asked for; see `MnesticClient.fork_job`."""

    job_id: str
    wait: int | str | None
    as_job: str | None
    session_id: str | None
    agent_id: str | None
    plan: Plan | None


async def fork_input(
    handle: WorkflowHandle[Any, Any], memory: Memory, terms: ForkTerms, *, settings: Settings
) -> JobInput:
    """The input of a job that begins at a wait of another one; see `MnesticClient.fork_job`."""
    tenant_id = settings.tenant_id
    header: dict[str, Any] = {}
    agent_id = terms.agent_id
    if agent_id is None:
        found = await handle.describe()
        agent_id, _ = agent_of(found)
        header = (await found.memo()).get("mnestic", {})
    async with memory.transaction(
        tenant_id=tenant_id, agent_id=agent_id, actor="client", write=False
    ) as transaction:
        chosen = await find_wait(transaction, terms.job_id, terms.wait)
        context = chosen.context
        plan = terms.plan or await transaction.plans.find(context.plan_decision_id)
    inputs = context.inputs
    if plan is None or context.memory_snapshot is None:  # of 0.1.0, which kept less
        started = await _input_of(handle)
        plan, inputs = plan or started.plan, started.inputs
    if context.cursor_node not in {node.id for node in plan.nodes if node.kind == "wait"}:
        why = f"has no wait {context.cursor_node!r}, at which the fork begins"
        raise InvalidInputError(what=f"plan {plan.name}", why=why)
    new_id = check_id(terms.as_job or new_job_id(), what="job id")
    session = check_id(terms.session_id or new_id, what="session")
    return JobInput(
        job_id=new_id,
        scope=Scope(tenant_id=tenant_id, agent_id=agent_id, session_id=session),
        plan=plan,
        inputs=inputs,
        max_payload_bytes=settings.max_payload_bytes,
        progress=JobProgress(cursor=context.cursor_node, results=context.payload_results),
        origin=ForkOrigin(
            job_id=terms.job_id,
            wait_id=chosen.wait_id,
            snapshot_id=chosen.snapshot_id,
            sha256=_hash_of(chosen, header),
        ),
    )


async def find_wait(transaction: Transaction, job_id: str, wait: int | str | None) -> JobWait:
    """A wait of the job, by number or id; the latest one if none is named.

    Raises:
        NotFoundError: there is none.
    """
    if wait is None:
        waits = await list_all_waits(transaction, job_id)
        if not waits:
            raise NotFoundError(what="wait of job", name=job_id)
        return waits[-1]
    name = wait if isinstance(wait, str) and not wait.isdecimal() else wait_id(job_id, int(wait))
    if name.rpartition("/")[0] != job_id:
        raise InvalidInputError(what="wait", why=f"{name} is not a wait of job {job_id}")
    return await transaction.waits.get(name)


def _hash_of(wait: JobWait, header: dict[str, Any]) -> str:
    """The hash of a wait's snapshot, from where it was kept beside the snapshot.

    Raises:
        SnapshotUnverifiedError: it was not; a wait of 0.1.0 that ended by its timeout.
    """
    if wait.context.memory_snapshot is not None:
        return wait.context.memory_snapshot.sha256
    if wait.receipt is not None:
        return wait.receipt.snapshot_sha256
    if header.get("snapshot_id") == wait.snapshot_id:
        return str(header["sha256"])
    why = f"the hash of wait {wait.wait_id} was not kept"
    raise SnapshotUnverifiedError(job_id=wait.job_id, why=why)


async def _input_of(handle: WorkflowHandle[Any, Any]) -> JobInput:
    """What a job was started with, from its history."""
    async for event in handle.fetch_history_events():
        if event.event_type == EventType.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED:
            payloads = event.workflow_execution_started_event_attributes.input.payloads
            converter = handle._client.data_converter  # noqa: SLF001 - there is no public way
            (found,) = await converter.decode(payloads, [JobInput])
            job: JobInput = found
            return job
    raise NotFoundError(what="history of job", name=handle.id)
