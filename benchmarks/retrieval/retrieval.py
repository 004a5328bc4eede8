"""Measures what retrieval costs a user: `python benchmarks/retrieval/retrieval.py --json`; progress goes to standard error.

Each lane is a way in which people use memory, and beside each is the same by a plain statement, in the same run. Everything
runs on an embedded runtime of its own, in a directory that is removed afterwards; with `--data` in one that
stays, so that the next run need not build the memories again. One of an older version is migrated.
"""

import argparse
import asyncio
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import psycopg

from benchmarks.default_settings import default_settings
from benchmarks.jobs.jobs import machine_of
from benchmarks.lanes import Lanes
from benchmarks.retrieval.data import (
    TENANT,
    Population,
    agent_of,
    build,
    questions_in_turn,
    questions_to,
)
from benchmarks.retrieval.figures import (
    COLUMNS,
    LANES,
    Compared,
    ComparedFirst,
    Latency,
    NewProcess,
    RetrievalFigures,
    rows,
)
from benchmarks.retrieval.lanes import FIRST, measure_first, measure_lane, repeat
from benchmarks.retrieval.peers import BOTH, Peers
from benchmarks.retrieval.process import PLAIN_URL
from mnestic.starter.cli.output import print_json, print_progress, print_table
from mnestic.starter.embedded.connection import environment_for_embedded
from mnestic.starter.embedded.runtime import EmbeddedRuntime
from mnestic.starter.settings import Settings
from mnestic.stores.postgres.retrieval.vector_indexes import index_vectors
from mnestic.stores.postgres.schema import migrate


@dataclass(frozen=True, kw_only=True)
class Extent:
    """How much is measured."""

    population: Population = field(default_factory=Population)
    processes: int = 10  # new ones, of each side
    warm_up: int = 20
    samples: int = 200
    clients_samples: int = 480
    repeated: tuple[int, int] = (100, 1000)  # different questions, and the number of queries


QUICK = Extent(
    population=Population(sizes=(40, 400), many=10),
    processes=1,
    warm_up=2,
    samples=10,
    clients_samples=32,
    repeated=(5, 20),
)


class Retrieval:
    """Measures lanes among memories that are there, for all sides that `peers` has."""

    def __init__(self, extent: Extent, owner: psycopg.AsyncConnection, peers: Peers) -> None:
        self._extent, self.owner, self.peers = extent, owner, peers

    async def first(self, size: int) -> dict[str, NewProcess]:
        """The first questions of new processes, to the agent with so many entries."""
        processes = self._extent.processes
        drawn_questions = await questions_to(self.owner, agent_of(size), number=FIRST * processes)
        return await measure_first(self.peers, drawn_questions, processes=processes)

    async def lane(self, name: str, size: int) -> dict[str, Latency]:
        """A lane, with the agent that has so many entries, or with the many that have as few."""
        extent = self._extent
        number = extent.clients_samples if name == "clients_16" else extent.samples
        drawn = await questions_to(
            self.owner, agent_of(size), number=extent.warm_up + max(number, extent.repeated[0])
        )
        warm_up, drawn_questions = drawn[: extent.warm_up], drawn[extent.warm_up :]
        if name == "agents":
            drawn_questions = await questions_in_turn(self.owner, extent.population.many_agents)
        elif name == "repeated":
            different, number = extent.repeated
            drawn_questions = repeat(drawn_questions[:different], number=number)
        else:
            drawn_questions = drawn_questions[:number]
        return await measure_lane(self.peers, name, warm_up=warm_up, questions=drawn_questions)


@asynccontextmanager
async def build_memories(
    extent: Extent, data_dir: Path, *, pythons: Mapping[str, str] = BOTH
) -> AsyncIterator[tuple[Retrieval, Lanes]]:
    """Builds the memories that are missing, on servers that run for as long as a block."""
    async with EmbeddedRuntime(
        Settings(data_dir=data_dir), report=print_progress, migrate=migrate, start_worker=False
    ) as runtime:
        servers = Lanes(runtime.state, data_dir)
        url = str(runtime.state.database_admin_url)
        async with await psycopg.AsyncConnection.connect(url, autocommit=True) as owner:
            await build(servers, owner, extent.population)
            await _settle(owner, url)
            postgres = psutil.Process(owner.info.backend_pid).parent()
            assert postgres is not None
            environment = _environment(data_dir, plain_url=url)
            peers = Peers(environment, postgres=postgres, pythons=pythons)
            yield Retrieval(extent, owner, peers), servers


async def measure(
    extent: Extent, data_dir: Path, *, lanes: Sequence[str], sizes: Sequence[int]
) -> RetrievalFigures:
    """Measures the lanes for each size of memory."""
    async with build_memories(extent, data_dir) as (retrieval, servers):
        first: dict[int, ComparedFirst] = {}
        found: dict[str, dict[int, Compared]] = {}
        for name, size in _measured(lanes, sizes, smallest=min(extent.population.sizes)):
            began = time.monotonic()
            if name == "first":
                first[size] = ComparedFirst(**await retrieval.first(size))
                ratio = first[size].ratio
            else:
                compared = Compared(**await retrieval.lane(name, size))
                found.setdefault(name, {})[size] = compared
                ratio = compared.ratio
            print_progress(f"{name}, {size}: {ratio} ({time.monotonic() - began:.0f} s)")
        return RetrievalFigures(first=first, lanes=found, machine=await machine_of(servers))


def _measured(
    lanes: Sequence[str], sizes: Sequence[int], *, smallest: int
) -> Iterator[tuple[str, int]]:
    """The lanes in their order, each with the sizes that it is measured for."""
    for name in LANES:
        if name in lanes:
            for size in (smallest,) if name == "agents" else sizes:
                yield name, size


async def _settle(owner: psycopg.AsyncConnection, url: str) -> None:
    """Does before the first question what Postgres and operators do in time."""
    began = time.monotonic()
    indexed = await asyncio.to_thread(index_vectors, url, TENANT)
    await owner.execute("VACUUM (ANALYZE)")
    await owner.execute("CHECKPOINT")
    took = f"{time.monotonic() - began:.0f} s"
    print_progress(f"{len(indexed.built)} indexes of vectors built, tables vacuumed ({took})")


def _environment(data_dir: Path, *, plain_url: str) -> dict[str, str]:
    return {
        **environment_for_embedded(),
        "MNESTIC_DATA_DIR": str(data_dir),
        "MNESTIC_TENANT_ID": TENANT,
        PLAIN_URL: plain_url,
    }


def main() -> None:
    """Reads the options, measures, and prints the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--quick", action="store_true", help="few entries, to see that it runs")
    parser.add_argument("--data", type=Path, help="directory of the servers, which stays")
    parser.add_argument(
        "--lanes", type=_names, default=LANES, help=f"of {','.join(LANES)}; all without it"
    )
    parser.add_argument(
        "--entries",
        type=_numbers,
        help="of the queried agents, such as 1000,10000; all without it, or the most by --quick",
    )
    options = parser.parse_args()
    extent = QUICK if options.quick else Extent()
    quick = extent.population.sizes[-1:]
    sizes = options.entries or (quick if options.quick else extent.population.sizes)
    if not set(sizes) <= set(extent.population.sizes):
        parser.error(f"--entries: choose of {', '.join(map(str, extent.population.sizes))}")
    data = options.data and options.data.resolve()
    with default_settings() as folder:
        figures = asyncio.run(measure(extent, data or folder, lanes=options.lanes, sizes=sizes))
    if options.json:
        print_json(figures.model_dump(mode="json", exclude_none=True))
        return
    print_table(COLUMNS, rows(figures), empty="Nothing was measured.")
    print_progress(str(figures.machine))


def _names(text: str) -> tuple[str, ...]:
    names = tuple(text.split(","))
    if not set(names) <= set(LANES):
        raise argparse.ArgumentTypeError(f"choose of {', '.join(LANES)}")
    return names


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(","))


if __name__ == "__main__":
    main()
