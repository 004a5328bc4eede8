"""A worker process of the benchmark: the product's, or that of the bare workflow which is its floor.

It ends when its standard input does, and so with the benchmark, however that ends.
"""

import argparse
import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager

from temporalio.client import Client
from temporalio.worker import Worker

from benchmarks.floor import BareJob, stamp
from mnestic.activities.clients.local import LocalChatModel, LocalSummariser
from mnestic.activities.clients.no_extractor import NoExtractor
from mnestic.starter.maintenance_wiring import (
    maintenance_activities,
    make_maintenance_worker,
    yield_to_jobs,
)
from mnestic.starter.memory_wiring import find_database, writing_embedder
from mnestic.starter.polls.wait_poll import wait_poll
from mnestic.starter.settings import Settings, load_settings
from mnestic.starter.wiring import connect_temporal, find_endpoints, open_memory
from mnestic.stores.postgres.memory import PostgresMemory
from mnestic.worker import activities_of, freeze_heap, make_worker

READY = b"ready\n"


@asynccontextmanager
async def product(settings: Settings, *, cached: int, extracts: bool) -> AsyncIterator[None]:
    """Runs the product's worker of jobs for as long as a block."""
    endpoints = find_endpoints(settings)
    memory = open_memory(endpoints, embedder=writing_embedder(settings))
    activities = activities_of(
        memory,
        model=LocalChatModel(),
        summariser=LocalSummariser(),
        extractor=None if extracts else NoExtractor(),
    )
    client = await connect_temporal(endpoints)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(memory.close)
        worker = make_worker(
            client, settings, activities=[*activities, stamp], max_cached_workflows=cached
        )
        await stack.enter_async_context(worker)
        await stack.enter_async_context(wait_poll(memory, client, tenants=()))
        freeze_heap()  # as a worker does
        yield


@asynccontextmanager
async def maintenance(settings: Settings) -> AsyncIterator[None]:
    """Runs the product's worker of maintenance for as long as a block, without its Schedules."""
    memory = open_memory(find_endpoints(settings), embedder=writing_embedder(settings))
    client = await connect_temporal(find_endpoints(settings))
    async with AsyncExitStack() as stack:
        stack.push_async_callback(memory.close)
        yield_to_jobs()  # as a worker does
        await stack.enter_async_context(_maintenance_worker(client, settings, memory))
        freeze_heap()
        yield


def _maintenance_worker(client: Client, settings: Settings, memory: PostgresMemory) -> Worker:
    _, admin_url = find_database(settings)
    activities = maintenance_activities(
        memory,
        admin_url=admin_url.get_secret_value(),
        backup_directory=settings.backup_directory,
    )
    return make_maintenance_worker(client, settings, activities=activities)


@asynccontextmanager
async def floor(settings: Settings, *, cached: int) -> AsyncIterator[None]:
    """Runs a worker of the bare workflow for as long as a block."""
    client = await Client.connect(str(settings.temporal_address))
    async with Worker(
        client,
        task_queue=settings.task_queue,
        workflows=[BareJob],
        activities=[stamp],
        max_cached_workflows=cached,
    ):
        yield


async def run(worker: AbstractAsyncContextManager[None]) -> None:
    """Runs a worker until standard input ends."""
    async with worker:
        sys.stdout.buffer.write(READY)
        sys.stdout.flush()
        await asyncio.to_thread(sys.stdin.read)


def main() -> None:
    """Reads the options."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--floor", action="store_true")
    parser.add_argument("--maintenance", action="store_true")
    parser.add_argument("--no-extraction", action="store_true")
    parser.add_argument("--cached", type=int, required=True)
    options = parser.parse_args()
    settings = load_settings()
    if options.floor:
        asyncio.run(run(floor(settings, cached=options.cached)))
    elif options.maintenance:
        asyncio.run(run(maintenance(settings)))
    else:
        worker = product(
            settings,
            cached=options.cached,
            extracts=not options.no_extraction,
        )
        asyncio.run(run(worker))


if __name__ == "__main__":
    main()
