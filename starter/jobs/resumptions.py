"""Reads what a job continues with after a wait: the wait and its snapshot, which is verified."""

from temporalio.client import Client

from mnestic.memory.jobs.resumptions import Resumption
from mnestic.memory.names import job_workflow_id
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
