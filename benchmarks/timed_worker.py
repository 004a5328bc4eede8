"""A worker process of the benchmark: the product's activities or empty ones, and one that tells the time.

It ends when its standard input does, and so with the benchmark, however that ends.
"""

import argparse
import asyncio
import sys
import time
from collections.abc import Sequence

from temporalio import activity

from benchmarks.floor import floor_activities
from mnestic.activities.clients.local import LocalChatModel, LocalSummariser
from mnestic.memory.extraction import Extraction, Turn
from mnestic.starter.memory_wiring import writing_embedder
from mnestic.starter.settings import load_settings
from mnestic.starter.wiring import (
    connect_temporal,
    find_endpoints,
    open_memory,
)
from mnestic.worker import activities_of, freeze_heap, make_worker

READY = b"ready\n"
STAMP = "benchmark.stamp"


@activity.defn(name=STAMP)
async def stamp() -> int:
    """The time at which it began, in nanoseconds since the epoch."""
    return time.time_ns()


class NoClaims:
    """An extractor that finds nothing, so that all but extraction is measured."""

    name = "none"
    model = None
    batch = 200

    async def extract(self, turns: Sequence[Turn]) -> Extraction:
        """No claims, whatever is said."""
        return Extraction(claims=((),) * len(turns), model=self.name)


async def run(*, floor: bool, cached: int, extracts: bool) -> None:
    """Runs a worker until standard input ends."""
    settings = load_settings()
    endpoints = find_endpoints(settings)
    memory = open_memory(endpoints, embedder=writing_embedder(settings))
    activities = (
        floor_activities()
        if floor
        else activities_of(
            memory,
            model=LocalChatModel(),
            summariser=LocalSummariser(),
            extractor=None if extracts else NoClaims(),
        )
    )
    client = await connect_temporal(endpoints)
    async with make_worker(
        client, settings, activities=[*activities, stamp], max_cached_workflows=cached
    ):
        freeze_heap()  # as a worker does
        sys.stdout.buffer.write(READY)
        sys.stdout.flush()
        await asyncio.to_thread(sys.stdin.read)
    await memory.close()


def main() -> None:
    """Reads the options."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--floor", action="store_true")
    parser.add_argument("--no-extraction", action="store_true")
    parser.add_argument("--cached", type=int, required=True)
    options = parser.parse_args()
    asyncio.run(run(floor=options.floor, cached=options.cached, extracts=not options.no_extraction))


if __name__ == "__main__":
    main()
