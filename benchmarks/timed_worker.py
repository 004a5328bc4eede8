"""A worker process of the benchmark: the product's, or that of the bare workflow which is its floor.

It ends when its standard input does, and so with the benchmark, however that ends.
"""

import argparse
import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from temporalio.client import Client
from temporalio.worker import Worker

from benchmarks.floor import BareJob, stamp
from mnestic.activities.clients.local import LocalChatModel, LocalSummariser
from mnestic.activities.clients.no_extractor import NoExtractor
from mnestic.starter.memory_wiring import writing_embedder
from mnestic.starter.settings import Settings, load_settings
from mnestic.starter.wiring import connect_temporal, find_endpoints, open_memory
from mnestic.worker import activities_of, freeze_heap, make_worker

READY = b"ready\n"


@asynccontextmanager
async def product(settings: Settings, *, cached: int, extracts: bool) -> AsyncIterator[None]:
    """Runs the product's worker for as long as a block."""
    endpoints = find_endpoints(settings)
    memory = open_memory(endpoints, embedder=writing_embedder(settings))
    activities = activities_of(
        memory,
        model=LocalChatModel(),
        summariser=LocalSummariser(),
        extractor=None if extracts else NoExtractor(),
    )
    client = await connect_temporal(endpoints)
    async with make_worker(
        client, settings, activities=[*activities, stamp], max_cached_workflows=cached
    ):
        freeze_heap()  # as a worker does
        yield
    await memory.close()


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
    parser.add_argument("--no-extraction", action="store_true")
    parser.add_argument("--cached", type=int, required=True)
    options = parser.parse_args()
    settings = load_settings()
    if options.floor:
        asyncio.run(run(floor(settings, cached=options.cached)))
    else:
        extracts = not options.no_extraction
        asyncio.run(run(product(settings, cached=options.cached, extracts=extracts)))


if __name__ == "__main__":
    main()
