"""Measures adding entries beside a table that a Postgres engineer would write: `python benchmarks/ingest/adding.py --json`.

Everything runs on an embedded runtime of its own, in a directory that is removed afterwards. Product and floor take turns.
"""

import argparse
import asyncio
import itertools
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import psycopg
from pydantic import BaseModel, ConfigDict

from benchmarks.default_settings import default_settings
from benchmarks.figures import Machine, Spread, spread
from benchmarks.ingest.plain_table import PlainTable
from benchmarks.ingest.round_trips import RoundTrips, counted
from benchmarks.jobs.jobs import machine_of
from benchmarks.lanes import Lanes
from benchmarks.messages import messages
from mnestic.memory.knowledge.resources import Resource
from mnestic.starter.cli.output import print_json, print_progress, print_table
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.embedded.runtime import EmbeddedRuntime
from mnestic.starter.settings import Settings
from mnestic.stores.postgres.schema import migrate

AGENT = "ada"
_SEED = 23
_BATCH = 500  # messages in one transaction
_WARM_UP = 30
_SIZES = """
SELECT c.relname, pg_total_relation_size(c.oid) FROM pg_class AS c
 WHERE c.relnamespace = 'mnestic'::regnamespace AND c.relkind = 'r'
"""


class AddingFigures(BaseModel):
    """All figures. `floor_…` is the plain table's, measured in turn with the product's.

    An entry counts as added when it is committed with its vector. Bytes are those of all tables and indexes, after VACUUM.
    """

    model_config = ConfigDict(frozen=True)

    add_ms: Spread
    learn_ms: Spread
    floor_add_ms: Spread
    add_trips: RoundTrips
    learn_trips: RoundTrips
    floor_trips: RoundTrips
    bulk_per_s: float
    floor_bulk_per_s: float
    floor_copy_per_s: float
    bytes_per_item: float
    floor_bytes_per_item: float
    bytes_by_table: dict[str, float]
    machine: Machine


async def measure(*, adds: int, bulk: int, data_dir: Path) -> AddingFigures:
    """Measures one entry at a time, many at once, and what they take."""
    async with EmbeddedRuntime(
        Settings(data_dir=data_dir), report=print_progress, migrate=migrate, start_worker=False
    ) as runtime:
        lanes = Lanes(runtime.state, data_dir)
        url = str(runtime.state.database_admin_url)
        async with PlainTable.open(url) as plain:
            found = await _add(lanes, plain, samples=adds)
            found |= await _bulk(lanes, plain, url, number=bulk)
        return AddingFigures(**found, machine=await machine_of(lanes))


async def _add(lanes: Lanes, plain: PlainTable, *, samples: int) -> dict[str, Any]:
    """One entry after the other, by each way in turn."""
    taken: dict[str, list[float]] = {"add": [], "learn": [], "floor_add": []}
    trips: dict[str, RoundTrips] = {}
    async with _memory(lanes, "add") as memory:

        async def add(message: Resource) -> None:
            await memory.add(message.content, subjects=[message.speaker], at=message.at)

        async def learn(message: Resource) -> None:
            await memory.ingest([message])

        ways: dict[str, Callable[[Resource], Awaitable[None]]]
        ways = {"add": add, "learn": learn, "floor_add": plain.add}
        source = messages(3 * (_WARM_UP + samples), seed=_SEED)
        for each in _batches(source, 3):
            for (name, way), one in zip(ways.items(), each, strict=True):
                began = time.perf_counter()
                with counted() as trips[name]:
                    await way(one)
                taken[name].append((time.perf_counter() - began) * 1000)
    return {
        **{f"{name}_ms": spread(each[_WARM_UP:]) for name, each in taken.items()},
        "add_trips": trips["add"],
        "learn_trips": trips["learn"],
        "floor_trips": trips["floor_add"],
    }


async def _bulk(lanes: Lanes, plain: PlainTable, url: str, *, number: int) -> dict[str, Any]:
    """Many entries, batch by batch, by each way in turn; then what they take."""
    source = list(messages(number, seed=_SEED + 1))
    taken = dict.fromkeys(("bulk", "floor_bulk", "floor_copy"), 0.0)
    async with _memory(lanes, "bulk") as memory:
        before, plain_before = await _sizes(url), await plain.bytes()
        ways: dict[str, Callable[[Sequence[Resource]], Awaitable[Any]]] = {
            "bulk": memory.ingest,
            "floor_bulk": plain.add_all,
            "floor_copy": plain.copy_all,
        }
        for batch in _batches(source, _BATCH):
            for name, way in ways.items():
                began = time.perf_counter()
                await way(batch)
                taken[name] += time.perf_counter() - began
        embedded = sum((await memory.stats()).entries.embedded.values())
        assert embedded == number, f"{embedded} of {number} entries have their vectors"
    await plain.vacuum()
    after, plain_after = await _sizes(url), await plain.bytes()
    each = {
        name: round((size - before[name]) / number, 1)
        for name, size in sorted(after.items())
        if size > before[name]
    }
    return {
        **{f"{name}_per_s": round(number / seconds, 1) for name, seconds in taken.items()},
        "bytes_per_item": round(sum(each.values()), 1),
        "floor_bytes_per_item": round((plain_after - plain_before) / number / 2, 1),
        "bytes_by_table": each,
    }


@asynccontextmanager
async def _memory(lanes: Lanes, name: str) -> AsyncIterator[MemoryClient]:
    async with lanes.client(name) as client:
        yield client.memory(AGENT)


async def _sizes(url: str) -> dict[str, int]:
    async with await psycopg.AsyncConnection.connect(url) as connection:
        return dict(await (await connection.execute(_SIZES)).fetchall())


def _batches(items: Iterable[Resource], size: int) -> Iterator[list[Resource]]:
    rest = iter(items)
    while batch := list(itertools.islice(rest, size)):
        yield batch


def _rows(figures: AddingFigures) -> Iterator[tuple[str, str, str, str, str]]:
    """The figures as a table: what, how much, the floor, the ratio, the target."""
    for name, found in (("add", figures.add_ms), ("learn one message", figures.learn_ms)):
        floor = figures.floor_add_ms
        ratio = f"{found.p50 / floor.p50:.2f}"
        yield f"{name}, ms p50 (p95)", _p50_and_p95(found), _p50_and_p95(floor), ratio, "<= 3"
    for name, trips in (("add", figures.add_trips), ("learn", figures.learn_trips)):
        floor_trips = figures.floor_trips
        yield f"{name}, statements", f"{trips.statements}", f"{floor_trips.statements}", "", ""
        yield f"{name}, waits", f"{trips.waits}", f"{floor_trips.waits}", "", ""
    for name, floor_rate in (
        ("beside an INSERT each", figures.floor_bulk_per_s),
        ("beside a COPY", figures.floor_copy_per_s),
    ):
        cells = f"{figures.bulk_per_s}", f"{floor_rate}", f"{figures.bulk_per_s / floor_rate:.2f}"
        yield (f"bulk, entries a second, {name}", *cells, ">= 0.9")
    size, floor_size = figures.bytes_per_item, figures.floor_bytes_per_item
    yield "bytes per item", f"{size}", f"{floor_size}", f"{size / floor_size:.2f}", "<= 2.5"
    for name, size in figures.bytes_by_table.items():
        yield f"of them in {name}", f"{size}", "", "", ""


def _p50_and_p95(durations: Spread) -> str:
    return f"{durations.p50:.2f} ({durations.p95:.2f})"


def main() -> None:
    """Reads the options, measures, and prints the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--quick", action="store_true", help="few samples, to see that it runs")
    options = parser.parse_args()
    adds, bulk = (5, 500) if options.quick else (400, 5000)
    with default_settings() as folder:
        figures = asyncio.run(measure(adds=adds, bulk=bulk, data_dir=folder))
    if options.json:
        print_json(figures.model_dump(mode="json"))
        return
    print_table(("figure", "here", "floor", "ratio", "target"), _rows(figures), empty="")
    print_progress(str(figures.machine))


if __name__ == "__main__":
    main()
