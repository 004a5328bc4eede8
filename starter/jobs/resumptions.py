"""Reads what a job continues with: a wait, its snapshot, which is verified, what has changed since, and the plan."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from typing import NamedTuple

from temporalio.api.enums.v1 import EventType
from temporalio.client import Client

from mnestic.memory.errors import NotFoundError
from mnestic.memory.jobs.agent_job import JobInput
from mnestic.memory.jobs.differences import JobDifference, MemoryNow, difference
from mnestic.memory.jobs.plans import Plan
from mnestic.memory.jobs.snapshots import EPISODIC_TAIL, SealedSnapshot
from mnestic.memory.jobs.waits import JobWait, Resumption
from mnestic.memory.names import AGENT_JOB, job_workflow_id
from mnestic.memory.ports import Memory, Transaction
from mnestic.starter.jobs.lookup import find_job, owner_of
from mnestic.starter.jobs.waits import choose_wait, hash_of_snapshot


async def read_resumption(
    temporal: Client, *, job_id: str, tenant_id: str, wait: int | str | None, memory: Memory
) -> Resumption:
    """Reads a wait and its snapshot; see `MnesticClient.job_resumption`."""
    of_job = _JobMemory(temporal, memory, job_id=job_id, tenant_id=tenant_id)
    async with of_job.opened(wait) as (_, opened):
        return Resumption(
            wait=opened.wait,
            snapshot=opened.snapshot.read(),
            snapshot_sha256=opened.sha256,
            redacted_at=opened.snapshot.redacted_at,
        )


async def diff_job(
    temporal: Client, *, job_id: str, tenant_id: str, wait: int | str | None, memory: Memory
) -> JobDifference:
    """Compares a snapshot with memory now; see `MnesticClient.diff_job`."""
    of_job = _JobMemory(temporal, memory, job_id=job_id, tenant_id=tenant_id)
    async with of_job.opened(wait) as (transaction, opened):
        head, session_id = opened.snapshot.head, opened.wait.scope.session_id
        reads, records, versions = await transaction.records.select_again(head.read_set)
        episodes, _ = await transaction.episodes.list_by_agent(limit=EPISODIC_TAIL)
        return difference(
            opened.wait,
            replace(opened.snapshot, head=head.model_copy(update={"read_set": reads})),
            sha256=opened.sha256,
            now=MemoryNow(
                working=await transaction.working.load(session_id),
                working_ref=await transaction.working.find_ref(session_id),
                records=records,
                versions=versions,
                episodes=episodes,
                read_at=await transaction.now(),
            ),
        )


class _Opened(NamedTuple):
    """A wait and its snapshot, which has the hash that it must have."""

    wait: JobWait
    snapshot: SealedSnapshot
    sha256: str


class _JobMemory:
    """The memory of a job, also of one that Temporal no longer has."""

    def __init__(self, temporal: Client, memory: Memory, *, job_id: str, tenant_id: str) -> None:
        self._temporal, self._memory = temporal, memory
        self._job_id, self._tenant_id = job_id, tenant_id

    @asynccontextmanager
    async def opened(self, wait: int | str | None) -> AsyncIterator[tuple[Transaction, _Opened]]:
        """A wait with its snapshot, and the transaction in which the snapshot was read."""
        workflow_id = job_workflow_id(self._tenant_id, self._job_id)
        execution = await find_job(self._temporal.get_workflow_handle(workflow_id))
        agent_id = await owner_of(
            execution, job_id=self._job_id, tenant_id=self._tenant_id, memory=self._memory
        )
        async with self._transaction(agent_id) as transaction:
            chosen = await choose_wait(transaction.waits, wait, job_id=self._job_id)
        sha256 = await hash_of_snapshot(
            chosen, execution, temporal=self._temporal, memory=self._memory
        )
        async with self._transaction(agent_id) as transaction:
            sealed = await transaction.snapshots.get(chosen.snapshot_id, sha256=sha256)
            yield transaction, _Opened(chosen, sealed, sha256)

    def _transaction(self, agent_id: str) -> AbstractAsyncContextManager[Transaction]:
        return self._memory.transaction(
            tenant_id=self._tenant_id, agent_id=agent_id, actor="client", write=False
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
