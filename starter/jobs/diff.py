"""Compares a job's snapshot with its memory now: finds the wait, its hash and the stored rows."""

from dataclasses import replace

from temporalio.client import Client

from mnestic.memory.jobs.differences import JobDifference, MemoryNow, difference
from mnestic.memory.jobs.snapshots import EPISODIC_TAIL
from mnestic.memory.names import job_workflow_id
from mnestic.memory.ports import Memory
from mnestic.starter.jobs.lookup import find_job, owner_of
from mnestic.starter.jobs.waits import choose_wait, hash_of_snapshot


async def diff_job(
    temporal: Client, *, job_id: str, tenant_id: str, wait: int | str | None, memory: Memory
) -> JobDifference:
    """Compares a snapshot with now; see `MnesticClient.diff_job`."""
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
        reads, records, versions = await transaction.records.select_again(sealed.head.read_set)
        episodes, _ = await transaction.episodes.list_by_agent(limit=EPISODIC_TAIL)
        head = sealed.head.model_copy(update={"read_set": reads})
        return difference(
            chosen,
            replace(sealed, head=head),
            sha256=sha256,
            now=MemoryNow(
                working=await transaction.working.load(chosen.scope.session_id),
                working_ref=await transaction.working.find_ref(chosen.scope.session_id),
                records=records,
                versions=versions,
                episodes=episodes,
                read_at=await transaction.now(),
            ),
        )
