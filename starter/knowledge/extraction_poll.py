"""A worker's look at the memory of its tenants: agents with messages from which nothing was extracted have it started.

It is what makes extraction certain: who adds to memory starts it at once, but may have no Temporal, or lose it.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import timedelta

from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from mnestic.activities.knowledge.ingest_starts import start_ingest
from mnestic.memory.agents import WaitingAgent
from mnestic.memory.error_texts import describe_error
from mnestic.memory.ports import Memory

_EVERY = timedelta(seconds=10)
log = logging.getLogger("mnestic.extraction")


@asynccontextmanager
async def extraction_poll(
    memory: Memory,
    temporal: Client,
    *,
    tenants: Sequence[str],
    task_queue: str,
    every: timedelta = _EVERY,
) -> AsyncIterator[None]:
    """Starts `IngestMessages` for who waits for it, at once and again and again, for as long as a block.

    Args:
        memory: Whose messages are looked at.
        temporal: Where workflows are started.
        tenants: Whose agents they are; of none that is named, those of every tenant.
        task_queue: That of the worker.
        every: How long it rests between two looks.
    """

    async def poll() -> None:
        while True:
            try:
                for waiting in await memory.list_waiting_agents(tenants=tenants):
                    await _start(temporal, waiting, task_queue=task_queue)
            except Exception as error:  # noqa: BLE001 - whatever it was, the next look may succeed
                why = describe_error(error)
                log.warning("extraction is not started yet", extra={"why": why})
            await asyncio.sleep(every.total_seconds())

    polling = asyncio.create_task(poll())
    try:
        yield
    finally:
        polling.cancel()
        with suppress(asyncio.CancelledError):
            await polling


async def _start(temporal: Client, waiting: WaitingAgent, *, task_queue: str) -> None:
    """Starts the extraction of an agent's messages; one that Temporal refuses keeps no other from being started.

    Raises:
        RPCError: Temporal does not answer.
    """
    tenant_id, agent_id = waiting
    try:
        await start_ingest(
            temporal, tenant_id=tenant_id, agent_id=agent_id, task_queue=task_queue, is_more=False
        )
    except RPCError as error:
        if error.status is not RPCStatusCode.INVALID_ARGUMENT:
            raise
        log.warning(
            "extraction is refused",
            extra={"tenant_id": tenant_id, "agent_id": agent_id, "why": describe_error(error)},
        )
