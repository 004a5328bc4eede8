"""Describes a job whose history Temporal no longer has, from its waits and its last episode."""

from mnestic.memory.errors import NotFoundError
from mnestic.memory.jobs.agent_job import JobDescription
from mnestic.memory.jobs.episodes import Episode
from mnestic.memory.names import wait_number
from mnestic.memory.ports import Memory
from mnestic.starter.jobs.lookup import owner_of
from mnestic.starter.pagination import list_all

_STATES = ("completed", "failed", "cancelled")


async def describe_forgotten_job(job_id: str, *, tenant_id: str, memory: Memory) -> JobDescription:
    """A job as its rows describe it.

    Raises:
        NotFoundError: there is no such job, or no row says how it ended.
    """
    agent_id = await owner_of(None, job_id=job_id, tenant_id=tenant_id, memory=memory)
    async with memory.transaction(
        tenant_id=tenant_id, agent_id=agent_id, actor="client", write=False
    ) as transaction:
        waits = await transaction.waits.list_latest(job_id)
        episodes = await list_all(transaction.episodes.list_by_job, job_id)
    end = next((each for each in episodes if each.payload.get("outcome") in _STATES), None)
    if end is None:
        raise NotFoundError(what="job", name=job_id)
    return JobDescription(
        job_id=job_id,
        agent_id=agent_id,
        session_id=end.session_id or "",
        state=end.payload["outcome"],
        started_at=min([each.created_at for each in episodes] + [each.opened_at for each in waits]),
        closed_at=end.created_at,
        plan=str(end.payload.get("plan", "")),
        failure=_failure(end),
        earlier_waits=wait_number(waits[0].wait_id) - 1 if waits else 0,
        waits=waits,
    )


def _failure(end: Episode) -> str | None:
    """Why the job failed; episodes of 0.2.0 say so in their summary alone."""
    if end.payload["outcome"] != "failed":
        return None
    return str(end.payload.get("cause") or end.summary)
