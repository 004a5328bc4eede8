"""A connection to memory alone, which needs no Temporal until something is to be forgotten."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator

import pytest

from mnestic.memory.errors import (
    TemporalUnavailableError,
    UnavailableError,
)
from mnestic.starter.client.memory_connection import MemoryConnection
from mnestic.starter.lazy_temporal import LazyTemporal
from mnestic.starter.settings import Settings
from tests.transactions import Execute

# Each takes from a tenth of a second to a whole one to import.
HEAVY = {
    "temporalio",
    "openai",
    "alembic",
    "opentelemetry",
    "cryptography",
    "httpx2",
    "requests",
    "sqlmodel",
}
ASK = """
import asyncio, json, sys

from mnestic.starter.client.memory_connection import MemoryConnection

async def main():
    async with await MemoryConnection.connect() as connection:
        found = await connection.memory("ada").retrieve("When is the invoice due?")
    loaded = sorted(sys.modules)
    async with await MemoryConnection.connect() as connection:
        added = await connection.memory("ada").add("The invoice was paid.")
    print(json.dumps([found.results[0].entry.content, added.content, loaded]))

asyncio.run(main())
"""


@pytest.fixture
async def connection(settings: Settings) -> AsyncIterator[MemoryConnection]:
    async with await MemoryConnection.connect(settings) as connection:
        yield connection


async def test_a_process_that_only_asks_memory_loads_nothing_that_it_does_not_use(
    settings: Settings, connection: MemoryConnection, application_url: str
) -> None:
    await connection.memory("ada").add("The invoice is due on Friday.")
    env = {
        **os.environ,
        "MNESTIC_DATA_DIR": str(settings.data_dir),
        "MNESTIC_DATABASE_URL": application_url,
        "MNESTIC_TENANT_ID": settings.tenant_id,
    }

    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", ASK, stdout=subprocess.PIPE, cwd="/", env=env
    )
    printed, _ = await process.communicate()

    found, added, loaded = json.loads(printed)
    assert (found, added) == ("The invoice is due on Friday.", "The invoice was paid.")
    assert HEAVY & {name.split(".")[0] for name in loaded} == set()
    ours = (
        *(
            "mnestic.workflows",
            "mnestic.activities.clients.english",
            "mnestic.starter.client.mnestic_client",
        ),
        *("mnestic.stores.postgres.tables", "mnestic.stores.postgres.table_stores"),
    )
    assert [name for name in loaded if name.startswith(ours)] == []


async def test_memory_is_read_and_written_where_nothing_says_where_temporal_is(
    settings: Settings,
) -> None:
    alone = settings.model_copy(update={"temporal_address": None})

    async with await MemoryConnection.connect(alone) as connection:
        memory = connection.memory("ada")
        await memory.records.set("notes", "one", "kept")

        assert (await memory.records.get("notes", "one")).value == "kept"
        with pytest.raises(UnavailableError, match="TEMPORAL_ADDRESS is not set"):
            await memory.preview_forget("the invoice")


@pytest.mark.usefixtures("worker")
async def test_a_preview_names_what_it_could_not_compare(
    connection: MemoryConnection, execute: Execute
) -> None:
    memory = connection.memory("ada")
    added = await memory.add("The physician prescribed rest.")
    execute("UPDATE mnestic.embedding SET vector = vector - vector WHERE tenant_id = %s")

    shown = await memory.preview_forget("doctors")

    assert shown.is_nothing
    assert [(one.kind, one.name) for one in shown.left] == [("entry", added.id)]


async def test_temporal_is_connected_once_however_many_ask_for_it(settings: Settings) -> None:
    reach = LazyTemporal(settings)

    first, second = await asyncio.gather(reach.temporal(), reach.temporal())

    assert first is second
    assert first.task_queue == settings.task_queue


async def test_a_temporal_that_does_not_answer_is_asked_again_by_the_next_call(
    settings: Settings, unused_tcp_port: int
) -> None:
    nowhere = settings.model_copy(update={"temporal_address": f"127.0.0.1:{unused_tcp_port}"})
    reach = LazyTemporal(nowhere)

    for _ in range(2):
        with pytest.raises(TemporalUnavailableError, match=str(unused_tcp_port)):
            await reach.temporal()
