"""Measures ingestion: `python benchmarks/ingest/ingest.py --json`; progress goes to standard error.

Everything runs on an embedded runtime of its own, in a directory that is removed afterwards.
"""

import argparse
import asyncio
import itertools
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql
from pydantic import BaseModel, ConfigDict

from benchmarks.default_settings import default_settings
from benchmarks.figures import Machine, Spread, spread
from benchmarks.jobs.jobs import machine_of
from benchmarks.lanes import Lane, Lanes
from benchmarks.messages import messages
from mnestic.activities.clients.token_vectors import TokenVectorEmbedder
from mnestic.memory.knowledge.resources import Resource
from mnestic.starter.cli.output import print_json, print_progress, print_table
from mnestic.starter.client.ingestion import start_ingest
from mnestic.starter.embedded.runtime import EmbeddedRuntime
from mnestic.starter.settings import Settings
from mnestic.stores.postgres.schema import migrate

PARTS = ("embed", "add", "bulk", "extract", "growth")
AGENT = "ada"
_SEED = 11
_AT_ONCE = 500  # messages stored in one transaction
_WARM_UP = 10
_TABLES = (
    *("resource", "ingest_state", "entry", "entry_term", "posting", "corpus"),
    *("embedding", "embedding_model", "claim", "fact", "memory_event", "audit_log"),
)
_SIZES = """
SELECT c.relname, pg_table_size(c.oid) FROM pg_class AS c
  JOIN pg_namespace AS n ON n.oid = c.relnamespace
 WHERE n.nspname = 'mnestic' AND c.relkind IN ('r', 'i')
"""


class IngestFigures(BaseModel):
    """All figures. A figure that was not measured is None, and left out of the JSON.

    Rates are messages a second, from the first that is sent to the last that has its vector. The floor
    is a bare COPY of the rows that the messages with extraction became, into tables with the same indexes.
    """

    model_config = ConfigDict(frozen=True)

    add_ms: Spread | None = None
    bulk_per_s: float | None = None
    bulk_extract_per_s: float | None = None
    floor_copy_per_s: float | None = None
    embed_per_s: float | None = None
    bytes_per_entry: dict[str, float] | None = None
    growth: dict[str, float] | None = None
    machine: Machine


@dataclass(frozen=True, kw_only=True)
class Extent:
    """How much is measured."""

    texts: int = 50_000
    adds: int = 300
    bulk: int = 20_000
    growth: tuple[int, ...] = (10_000, 30_000, 100_000, 300_000, 1_000_000)


QUICK = Extent(texts=2000, adds=5, bulk=1000, growth=(500, 1000))


async def measure(extent: Extent, parts: Sequence[str], data_dir: Path) -> IngestFigures:
    """Measures the chosen parts, one after the other."""
    found: dict[str, Any] = {}
    if "embed" in parts:
        found["embed_per_s"] = await _embed(extent.texts)
    async with EmbeddedRuntime(
        Settings(data_dir=data_dir), report=print_progress, migrate=migrate, start_worker=False
    ) as runtime:
        lanes = Lanes(runtime.state, data_dir)
        admin_url = str(runtime.state.database_admin_url)
        if "add" in parts:
            found["add_ms"] = await _add(lanes, samples=extent.adds)
        if "bulk" in parts:
            async with lanes.open("bulk", extracts=False) as lane:
                found["bulk_per_s"] = await _ingest(lane, messages(extent.bulk, seed=_SEED))
        if "extract" in parts:
            found |= await _extract(lanes, admin_url, extent.bulk)
        if "growth" in parts:
            found["growth"] = await _growth(lanes, extent.growth)
        return IngestFigures(**found, machine=await machine_of(lanes))


async def _embed(number: int) -> float:
    """The local embedder alone, texts a second."""
    texts = [message.content for message in messages(number, seed=_SEED)]
    embedder = TokenVectorEmbedder()
    await embedder.embed(texts[:_WARM_UP])
    began = time.perf_counter()
    for batch in _batches(texts, embedder.batch):
        await embedder.embed(batch)
    return _rate(number, since=began)


async def _add(lanes: Lanes, *, samples: int) -> Spread:
    """One entry after the other, until each is committed with its indexes."""
    taken = []
    async with lanes.client("add") as client:
        memory = client.memory(AGENT)
        for message in messages(_WARM_UP + samples, seed=_SEED):
            began = time.perf_counter()
            await memory.add(message.content, subjects=[message.speaker], at=message.at)
            taken.append((time.perf_counter() - began) * 1000)
    return spread(taken[_WARM_UP:])


async def _extract(lanes: Lanes, admin_url: str, number: int) -> dict[str, Any]:
    """With extraction; what the rows take in the database, and the same rows by COPY."""
    before = await _sizes(admin_url)
    async with lanes.open("extract") as lane:
        rate = await _ingest(lane, messages(number, seed=_SEED))
    after = await _sizes(admin_url)
    each = {
        name: round((size - before[name]) / number, 1)
        for name, size in sorted(after.items())
        if size > before[name]
    }
    return {
        "bulk_extract_per_s": rate,
        "bytes_per_entry": {"all": round(sum(each.values()), 1), **each},
        "floor_copy_per_s": await _copy(admin_url, "extract", number),
    }


async def _growth(lanes: Lanes, steps: Sequence[int]) -> dict[str, float]:
    """How fast one agent's memory takes more, from each size to the next, without extraction."""
    found = {}
    source = messages(steps[-1], seed=_SEED)
    async with lanes.open("growth", extracts=False) as lane:
        for before, size in itertools.pairwise((0, *steps)):
            found[str(size)] = await _ingest(lane, itertools.islice(source, size - before))
            print_progress(f"{size} entries: {found[str(size)]} a second")
    return found


async def _ingest(lane: Lane, source: Iterable[Resource]) -> float:
    """Sends messages during extraction, until the last is extracted."""
    memory = lane.client.memory(AGENT)
    sent = 0
    began = time.perf_counter()
    for batch in _batches(source, _AT_ONCE):
        sent += await memory.ingest(batch)
        handle = await start_ingest(lane.client, agent_id=AGENT)
    await handle.result()
    return _rate(sent, since=began)


async def _sizes(admin_url: str) -> dict[str, int]:
    async with await psycopg.AsyncConnection.connect(admin_url) as connection:
        return dict(await (await connection.execute(_SIZES)).fetchall())


async def _copy(admin_url: str, tenant: str, number: int) -> float:
    """All rows of a tenant, by COPY into tables that are like theirs, in one transaction."""
    async with await psycopg.AsyncConnection.connect(admin_url) as connection:
        rows: dict[str, list[bytes]] = {}
        for name in _TABLES:
            table = sql.Identifier(name)
            await connection.execute(
                sql.SQL("CREATE TABLE public.{0} (LIKE mnestic.{0} INCLUDING INDEXES)").format(
                    table
                )
            )
            out = sql.SQL("COPY (SELECT * FROM mnestic.{} WHERE tenant_id = {}) TO STDOUT BINARY")
            async with connection.cursor().copy(out.format(table, tenant)) as copy:
                rows[name] = [bytes(part) async for part in copy]
        await connection.commit()
        began = time.perf_counter()
        for name, parts in rows.items():
            into = sql.SQL("COPY public.{} FROM STDIN BINARY").format(sql.Identifier(name))
            async with connection.cursor().copy(into) as copy:
                for part in parts:
                    await copy.write(part)
        await connection.commit()
        return _rate(number, since=began)


def _rate(number: int, *, since: float) -> float:
    return round(number / (time.perf_counter() - since), 1)


def _batches(items: Iterable[Any], size: int) -> Iterator[list[Any]]:
    rest = iter(items)
    while batch := list(itertools.islice(rest, size)):
        yield batch


def _rows(figures: IngestFigures) -> Iterator[tuple[str, str, str, str]]:
    """The figures as a table: what, how much, the target, the floor."""
    if figures.add_ms is not None:
        cells = f"{figures.add_ms.p50:.1f} (p95 {figures.add_ms.p95:.1f})"
        yield "add one, ms", cells, "p95 < 30", ""
    floor = "" if figures.floor_copy_per_s is None else f"{figures.floor_copy_per_s}"
    for name, found, target, beside in (
        ("messages per second", figures.bulk_per_s, ">= 1000", floor),
        ("the same with extraction", figures.bulk_extract_per_s, ">= 300", floor),
        ("texts embedded per second", figures.embed_per_s, ">= 10000", ""),
    ):
        if found is not None:
            yield name, f"{found}", target, beside
    for name, size in (figures.bytes_per_entry or {}).items():
        yield f"bytes per entry, {name}", f"{size}", "", ""
    for entries, rate in (figures.growth or {}).items():
        yield f"messages per second, up to {entries} entries", f"{rate}", "", ""


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
    print_table(
        ("figure", "here", "target", "floor"), _rows(figures), empty="Nothing was measured."
    )
    print_progress(str(figures.machine))


if __name__ == "__main__":
    main()
