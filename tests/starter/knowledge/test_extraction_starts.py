"""Extraction begins by itself: started by who adds, or found by a worker."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, suppress
from datetime import timedelta

import psycopg
import pytest
from temporalio.api.enums.v1 import EventType
from temporalio.service import RPCError

from mnestic.memory.knowledge.ingestion import IngestCounts
from mnestic.memory.names import ingest_workflow_id
from mnestic.starter.client.client_scope import client_caller
from mnestic.starter.client.ingest_status import IngestDelay, find_delay
from mnestic.starter.client.ingestion import start_ingest
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.client.memory_connection import MemoryConnection
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.knowledge.extraction_starts import ExtractionStarts
from mnestic.starter.lazy_temporal import LazyTemporal
from mnestic.starter.polls.extraction_poll import extraction_poll
from mnestic.starter.settings import Settings
from mnestic.stores.postgres.memory import PostgresMemory

RunWorker = Callable[[], AbstractAsyncContextManager[None]]
SOON = timedelta(milliseconds=20)


@pytest.fixture
async def alone(settings: Settings) -> AsyncIterator[MemoryConnection]:
    """A connection to memory, without Temporal."""
    async with await MemoryConnection.connect(settings) as connection:
        yield connection


async def until_learned(memory: MemoryClient, number: int) -> None:
    async with asyncio.timeout(30):
        while await memory.messages.count() != IngestCounts(learned=number):  # noqa: ASYNC110 - Postgres sets no event
            await asyncio.sleep(0.05)


async def until_started(client: MnesticClient, agent_id: str) -> None:
    name = ingest_workflow_id(client.settings.tenant_id, agent_id)
    async with asyncio.timeout(30):
        while True:
            with suppress(RPCError):  # not yet
                await client.temporal.get_workflow_handle(name).describe()
                return
            await asyncio.sleep(0.05)


async def count_signals(client: MnesticClient) -> int:
    """How often the agent's `IngestMessages` was told that there is more."""
    name = ingest_workflow_id(client.settings.tenant_id, "ada")
    history = await client.temporal.get_workflow_handle(name).fetch_history()
    told = EventType.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED
    return sum(event.event_type == told for event in history.events)


async def test_many_adds_start_it_once_at_once_and_once_in_the_end(settings: Settings) -> None:
    async with await MnesticClient.connect(settings) as client:
        for number in range(20):
            await client.memory("ada").add(f"Note {number}.")
    async with await MnesticClient.connect(settings) as client:
        signals = await count_signals(client)

    assert 1 <= signals <= 4  # one a second, however long the machine takes for this


async def test_to_add_neither_fails_nor_waits_where_temporal_does_not_answer(
    memory: PostgresMemory, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    away = settings.model_copy(update={"temporal_address": "127.0.0.1:9"})
    starts = ExtractionStarts(LazyTemporal(away), tenant_id=settings.tenant_id)
    ada = MemoryClient(
        client_caller(memory, tenant_id=settings.tenant_id, agent_id="ada"), extraction=starts
    )

    entry = await ada.add("I live in Ghent.")
    stored = await ada.entries.get(entry.id)
    is_learned = await ada.messages.count()
    async with asyncio.timeout(20):
        while not caplog.records:  # noqa: ASYNC110 - nor does a log
            await asyncio.sleep(0.02)
    await starts.close()

    assert stored == entry
    assert is_learned == IngestCounts(received=1)
    assert [one.levelno for one in caplog.records] == [logging.WARNING]
    assert caplog.messages == ["extraction is left to a worker"]


async def test_a_worker_finds_what_was_added_without_temporal(
    alone: MemoryConnection, client: MnesticClient, memory: PostgresMemory, run_worker: RunWorker
) -> None:
    await alone.memory("ada").add("I live in Ghent.", speaker="Mara")
    await alone.memory("bea").add("I live in Bruges.", speaker="Mara")

    async with run_worker(), poll(client, memory):
        await until_learned(alone.memory("ada"), 1)
        await until_learned(alone.memory("bea"), 1)
        await alone.memory("ada").add("I like tea.", speaker="Mara")
        await until_learned(alone.memory("ada"), 2)


async def test_a_worker_leaves_an_extraction_alone_that_goes_on(
    alone: MemoryConnection, client: MnesticClient, memory: PostgresMemory
) -> None:
    await alone.memory("ada").add("I live in Ghent.")

    async with poll(client, memory):
        for later in ("zoe-1", "zoe-2", "zoe-3"):  # who is looked at after ada
            await alone.memory(later).add("I live in Bruges.")
            await until_started(client, later)

    assert await count_signals(client) == 0


async def test_a_worker_looks_again_whatever_went_wrong(
    alone: MemoryConnection,
    client: MnesticClient,
    memory: PostgresMemory,
    admin_url: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    await alone.memory("ada").add("I live in Ghent.")
    with psycopg.connect(admin_url, autocommit=True) as owner:
        owner.execute("ALTER TABLE mnestic.ingest_state RENAME TO restored_soon")
        try:
            async with poll(client, memory):
                async with asyncio.timeout(20):
                    while not messages_of_poll(caplog):  # noqa: ASYNC110 - a log sets no event
                        await asyncio.sleep(0.02)
                owner.execute("ALTER TABLE mnestic.restored_soon RENAME TO ingest_state")
                await until_started(client, "ada")
        finally:
            owner.execute("ALTER TABLE IF EXISTS mnestic.restored_soon RENAME TO ingest_state")

    assert messages_of_poll(caplog) == {"extraction is not started yet"}


def messages_of_poll(caplog: pytest.LogCaptureFixture) -> set[str]:
    """What the poll has logged; the driver logs a pipeline that ends with an error, too."""
    return {one.message for one in caplog.records if one.name.startswith("mnestic")}


def poll(client: MnesticClient, memory: PostgresMemory) -> AbstractAsyncContextManager[None]:
    settings = client.settings
    return extraction_poll(
        memory,
        client.temporal,
        tenants=(settings.tenant_id,),
        task_queue=settings.task_queue,
        every=SOON,
    )


async def test_that_no_worker_is_up_is_told(client: MnesticClient) -> None:
    await client.memory("ada").add("I live in Ghent.")
    await start_ingest(client, agent_id="ada")

    soon = await find_delay(client, agent_id="ada")
    later = await find_delay(client, agent_id="ada", patience=timedelta(0))

    queue = client.settings.task_queue
    why = f"no worker takes it from task queue {queue}; start one with `mnestic worker`"
    assert (soon, later) == (None, IngestDelay(why, is_paused=False))
