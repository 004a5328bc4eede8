"""Starts `FlushRecords` for agents with records that a backend lacks."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from functools import partial

from temporalio.client import Client
from temporalio.common import WorkflowIDConflictPolicy

from mnestic.activities.jobs.record_flushes import FlushRequest
from mnestic.memory.agents import WaitingAgent
from mnestic.memory.jobs.long_term.backends import FLUSH_DELAY
from mnestic.memory.names import FLUSH_RECORDS, flush_workflow_id
from mnestic.memory.ports import Memory
from mnestic.starter.polls.agent_poll import agent_poll


def record_poll(
    memory: Memory, temporal: Client, *, tenants: Sequence[str], task_queue: str
) -> AbstractAsyncContextManager[None]:
    """Looks for records that a backend lacks, for as long as a block; its arguments are those of `extraction_poll`."""

    async def start(waiting: WaitingAgent) -> None:
        await temporal.start_workflow(
            FLUSH_RECORDS,
            FlushRequest(**waiting._asdict()),
            id=flush_workflow_id(*waiting),
            task_queue=task_queue,
            id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
        )

    pending = partial(memory.list_pending_agents, tenants=tenants)
    return agent_poll(pending, start, what="flush", every=FLUSH_DELAY / 2)
