"""A job's timeline: Temporal's history of all its runs, joined with rows of the database."""

from typing import NamedTuple

from temporalio.api.history.v1 import HistoryEvent
from temporalio.client import Client, WorkflowExecutionDescription
from temporalio.service import RPCError, RPCStatusCode

from mnestic.memory.jobs.episodes import Episode
from mnestic.memory.jobs.timeline import JobTimeline, join_rows
from mnestic.memory.jobs.waits import JobWait
from mnestic.memory.names import job_workflow_id
from mnestic.memory.ports import Memory
from mnestic.starter.jobs.events import entries_of
from mnestic.starter.jobs.history_payloads import cause_of
from mnestic.starter.jobs.lookup import find_job, owner_of
from mnestic.starter.jobs.steps import Attempts
from mnestic.starter.pagination import list_all
from mnestic.starter.payloads.decoding import decoded

Run = list[HistoryEvent]


class JobRecord(NamedTuple):
    """Everything that Temporal and the database have about a job."""

    agent_id: str
    timeline: JobTimeline
    runs: list[Run]
    waits: tuple[JobWait, ...]
    episodes: tuple[Episode, ...]


async def job_history(
    temporal: Client, *, job_id: str, tenant_id: str, memory: Memory
) -> JobTimeline:
    """The timeline of a job; see `MnesticClient.job_history`."""
    record = await read_job(temporal, job_id=job_id, tenant_id=tenant_id, memory=memory)
    return record.timeline


async def read_job(temporal: Client, *, job_id: str, tenant_id: str, memory: Memory) -> JobRecord:
    """Reads a job from Temporal and the database, with its timeline.

    Raises:
        NotFoundError: there is no such job.
    """
    workflow_id = job_workflow_id(tenant_id, job_id)
    execution = await find_job(temporal.get_workflow_handle(workflow_id))
    agent_id = await owner_of(execution, job_id=job_id, tenant_id=tenant_id, memory=memory)
    runs, complete = await _runs(temporal, execution) if execution else ([], False)
    async with memory.transaction(
        tenant_id=tenant_id, agent_id=agent_id, actor="client", write=False
    ) as transaction:
        waits = await list_all(transaction.waits.list_by_job, job_id)
        operations = await list_all(transaction.list_operations, job_id)
        episodes = await list_all(transaction.episodes.list_by_job, job_id)
    entries = join_rows(
        entries_of(runs, pending=await _pending(temporal, execution) if execution else None),
        waits=waits,
        operations=operations,
        episodes=episodes,
    )
    timeline = JobTimeline(job_id=job_id, entries=entries, complete=complete)
    return JobRecord(agent_id, timeline, runs, waits, episodes)


async def _runs(temporal: Client, last: WorkflowExecutionDescription) -> tuple[list[Run], bool]:
    """The runs of a job that Temporal has, the first one first, and whether these are all."""
    runs: list[Run] = []
    run_id = last.run_id
    while run_id:
        run = await _run(temporal, last.id, run_id)
        if not run:
            return runs, False
        runs.insert(0, run)
        run_id = run[0].workflow_execution_started_event_attributes.continued_execution_run_id
    return runs, True


async def _run(temporal: Client, workflow_id: str, run_id: str) -> Run:
    """The events of a run; none when Temporal has dropped them."""
    handle = temporal.get_workflow_handle(workflow_id, run_id=run_id)
    try:
        return [await decoded(event, temporal) async for event in handle.fetch_history_events()]
    except RPCError as error:
        if error.status is not RPCStatusCode.NOT_FOUND:
            raise
        return []


async def _pending(
    temporal: Client, execution: WorkflowExecutionDescription
) -> dict[str, Attempts]:
    described = await decoded(execution.raw_description, temporal)
    return {
        pending.activity_id: Attempts(
            pending.attempt,
            cause_of(pending.last_failure) if pending.HasField("last_failure") else None,
        )
        for pending in described.pending_activities
    }
