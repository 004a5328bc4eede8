"""Resumes jobs whose waits have got their event, or whose fact holds."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import partial

from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from mnestic.activities.callers import Caller
from mnestic.memory.agents import WaitingAgent
from mnestic.memory.jobs.waits import MetWait
from mnestic.memory.names import RESUME, job_workflow_id
from mnestic.memory.ports import Memory
from mnestic.starter.polls.agent_poll import agent_poll

_EVERY = timedelta(seconds=5)  # where nothing wakes it


@asynccontextmanager
async def wait_poll(
    memory: Memory, temporal: Client, *, tenants: Sequence[str]
) -> AsyncIterator[None]:
    """Sends jobs that the conditions of their waits are met, for as long as a block; ever more rarely, until those have ended.

    Args:
        memory: Whose waits they are.
        temporal: Where the jobs are.
        tenants: Whose agents they are; of none that is named, those of every tenant.
    """

    async def send(waiting: WaitingAgent) -> None:
        caller = Caller(memory=memory, **waiting._asdict(), actor="events")
        async with caller(write=True) as transaction:
            met = await transaction.waits.claim_met(temporal.namespace)
        refused: RPCError | None = None
        for wait in met:
            try:
                is_running = await _signal(temporal, waiting.tenant_id, wait)
            except RPCError as error:  # the others are sent all the same
                refused = error
                continue
            if not is_running:
                async with caller(write=True) as transaction:
                    await transaction.waits.cancel_open(wait.job_id)
        if refused is not None:
            raise refused

    listed = partial(
        memory.list_agents_with_met_waits, tenants=tenants, temporal_namespace=temporal.namespace
    )
    async with (
        memory.listen() as rest,
        agent_poll(listed, send, what="events", every=_EVERY, rest=rest),
    ):
        yield


async def _signal(temporal: Client, tenant_id: str, wait: MetWait) -> bool:
    """Sends a job that the condition of its wait is met; False if the job is over, as one that was ended by force.

    Raises:
        RPCError: Temporal does not answer.
    """
    handle = temporal.get_workflow_handle(job_workflow_id(tenant_id, wait.job_id))
    try:
        await handle.signal(RESUME, wait.request)
    except RPCError as error:
        if error.status is not RPCStatusCode.NOT_FOUND:
            raise
        return False
    return True
