"""Measures jobs: `python benchmarks/jobs/jobs.py --json`; progress goes to standard error.

Everything runs on an embedded runtime of its own, in a directory that is removed afterwards.
"""

import argparse
import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from temporalio.api.workflowservice.v1 import GetSystemInfoRequest

from benchmarks.default_settings import default_settings
from benchmarks.figures import Figures, Machine, rows, this_machine
from benchmarks.jobs.parked import PARKED, measure_history, measure_memory
from benchmarks.jobs.resumes import measure_resumes, measure_throughput
from benchmarks.jobs.snapshots import measure_snapshots
from benchmarks.lanes import Lanes
from mnestic.starter.cli.output import print_json, print_progress, print_table
from mnestic.starter.embedded.connection import connect
from mnestic.starter.embedded.runtime import EmbeddedRuntime
from mnestic.starter.settings import Settings
from mnestic.stores.postgres.schema import migrate

PARTS = ("resumes", "snapshots", "throughput", "history", "memory")


@dataclass(frozen=True, kw_only=True)
class Extent:
    """How much is measured."""

    warm: int = 200
    cold: int = 100
    sizes_kib: tuple[int, ...] = (16, 256, 1024)
    samples: int = 100
    jobs: int = 300
    rounds: int = 3
    waits: int = 10
    parked: tuple[int, ...] = (1000, 10_000)


QUICK = Extent(warm=8, cold=12, samples=5, jobs=10, rounds=1, waits=3, parked=(10, 20))


async def measure(extent: Extent, parts: Sequence[str], data_dir: Path) -> Figures:
    """Measures the chosen parts, one after the other."""
    settings = Settings(data_dir=data_dir, tenant_id=PARKED, task_queue=PARKED)
    async with EmbeddedRuntime(
        settings, report=print_progress, migrate=migrate, start_worker=False
    ) as runtime:
        lanes = Lanes(runtime.state, data_dir)
        found: dict[str, Any] = {}
        if "resumes" in parts:
            found |= await measure_resumes(
                lanes, warm=extent.warm, cold=extent.cold, report=print_progress
            )
        if "snapshots" in parts:
            found |= await measure_snapshots(
                lanes, sizes_kib=extent.sizes_kib, samples=extent.samples, report=print_progress
            )
        if "throughput" in parts:
            found |= await measure_throughput(
                lanes, jobs=extent.jobs, rounds=extent.rounds, report=print_progress
            )
        if "history" in parts:
            found |= await measure_history(lanes, waits=extent.waits, report=print_progress)
        if "memory" in parts:
            found |= await measure_memory(
                lanes, runtime, parked=extent.parked, report=print_progress
            )
        return Figures(**found, machine=await machine_of(lanes))


async def machine_of(lanes: Lanes) -> Machine:
    """This machine, with the servers of a runtime."""
    url = str(lanes.state.database_url)
    async with await psycopg.AsyncConnection.connect(url) as connection:
        number = connection.info.server_version
    client = await connect(str(lanes.state.temporal_address), embedded=True)
    system = await client.workflow_service.get_system_info(GetSystemInfoRequest())
    return this_machine(
        postgres=f"{number // 10_000}.{number % 10_000}", temporal=system.server_version
    )


def main() -> None:
    """Reads the options, measures, and prints the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--quick", action="store_true", help="few samples, to see that it runs")
    parser.add_argument(
        "--only", action="append", choices=PARTS, help="measure this alone; may be repeated"
    )
    options = parser.parse_args()
    extent = QUICK if options.quick else Extent()
    with default_settings() as folder:
        figures = asyncio.run(measure(extent, options.only or PARTS, folder))
    if options.json:
        print_json(figures.model_dump(mode="json", exclude_none=True))
        return
    print_table(("figure", "here", "target", "floor"), rows(figures), empty="Nothing was measured.")
    print_progress(str(figures.machine))


if __name__ == "__main__":
    main()
