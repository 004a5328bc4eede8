"""Sends events to the jobs that wait for them."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import partial

from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from mnestic.activities.callers import Caller
from mnestic.memory.agents import WaitingAgent
from mnestic.memory.jobs.waits import SentEvent
from mnestic.memory.names import RESUME, job_workflow_id
from mnestic.memory.ports import Memory
from mnestic.starter.polls.agent_poll import agent_poll

_EVERY = timedelta(seconds=5)  # where nothing wakes it


@asynccontextmanager
async def event_poll(
    memory: Memory, temporal: Client, *, tenants: Sequence[str]
) -> AsyncIterator[None]:
    """Sends events to jobs as they are published, for as long as a block; again after a minute, until their waits have ended.

    Args:
        memory: Whose events they are.
        temporal: Where the jobs are.
        tenants: Whose agents they are; of none that is named, those of every tenant.
    """

    async def send(waiting: WaitingAgent) -> None:
        caller = Caller(memory=memory, **waiting._asdict(), actor="events")
        async with caller(write=True) as transaction:
            claimed = await transaction.waits.claim_events()
        for sent in claimed:
            if not await _signal(temporal, waiting.tenant_id, sent):
                async with caller(write=True) as transaction:
                    await transaction.waits.cancel_open(sent.job_id)

    listed = partial(memory.list_agents_with_events, tenants=tenants)
    async with (
        memory.listen() as rest,
        agent_poll(listed, send, what="events", every=_EVERY, rest=rest),
    ):
        yield


async def _signal(temporal: Client, tenant_id: str, sent: SentEvent) -> bool:
    """Sends an event to a job; False if the job is over, as one that was ended by force.

    Raises:
        RPCError: Temporal does not answer.
    """
    handle = temporal.get_workflow_handle(job_workflow_id(tenant_id, sent.job_id))
    try:
        await handle.signal(RESUME, sent.request)
    except RPCError as error:
        if error.status is not RPCStatusCode.NOT_FOUND:
            raise
        return False
    return True
