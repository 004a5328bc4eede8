"""Starts extraction for agents with messages from which nothing was extracted."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from functools import partial

from temporalio.client import Client

from mnestic.activities.knowledge.ingest_starts import start_ingest
from mnestic.memory.agents import WaitingAgent
from mnestic.memory.ports import Memory
from mnestic.starter.polls.agent_poll import agent_poll

_EVERY = timedelta(seconds=10)


def extraction_poll(
    memory: Memory,
    temporal: Client,
    *,
    tenants: Sequence[str],
    task_queue: str,
    every: timedelta = _EVERY,
) -> AbstractAsyncContextManager[None]:
    """Starts `IngestMessages` for who waits for it, at once and again and again, for as long as a block.

    Args:
        memory: Whose messages are looked at.
        temporal: Where workflows are started.
        tenants: Whose agents they are; of none that is named, those of every tenant.
        task_queue: That of the worker.
        every: How long it rests between two looks.
    """

    async def start(waiting: WaitingAgent) -> None:
        await start_ingest(temporal, **waiting._asdict(), task_queue=task_queue, is_more=False)

    waiting = partial(memory.list_waiting_agents, tenants=tenants)
    return agent_poll(waiting, start, what="extraction", every=every)
