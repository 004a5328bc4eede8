"""Measures Mnestic beside what users would take instead: `make bench-check`; progress goes to standard error.

The others are a statement written by hand, LangGraph's store and mem0, with the same embedder on the same Postgres, each asked
in turn. LangGraph and mem0 are installed into environments of their own. What one has to be is the table of docs/benchmarks.md:
with `--check` it fails where a ratio is a quarter worse than there.
"""

import argparse
import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict, computed_field

from benchmarks.default_settings import default_settings
from benchmarks.figures import Machine
from benchmarks.ingest.adding import measure as measure_adding
from benchmarks.jobs.jobs import machine_of
from benchmarks.retrieval.data import Population, agent_of
from benchmarks.retrieval.figures import Latency, NewProcess
from benchmarks.retrieval.peers import BOTH
from benchmarks.retrieval.retrieval import Extent, Retrieval, build_memories
from mnestic.starter.cli.output import print_json, print_progress, print_table

# Of what is in an environment of its own: its Python, and a table that is there once it has its memory.
_PYTHONS = {
    "langgraph": str(Path(__file__).parents[1] / ".venv/peers/bin/python"),
    "mem0": str(Path(__file__).parents[1] / ".venv/mem0/bin/python"),
}
_TABLES = {"langgraph": "public.store", "mem0": "public.mem0_entry"}
RECORD = Path(__file__).parents[1] / "docs/benchmarks.md"
_WORSE = 1.25
_CONTENTS = "SELECT content FROM plain.entry WHERE agent = %s ORDER BY id"
_COLUMNS = ("", "Mnestic", "plain statement", "LangGraph", "mem0", "ratio")
_SIDES = ("product", "floor", "langgraph", "mem0")
_QUICK = Extent(
    population=Population(sizes=(40, 400), many=0),
    processes=1,
    warm_up=2,
    samples=10,
    clients_samples=32,
)
_WHOLE = Extent(population=Population(sizes=(1000, 10_000), many=0))


class PeerFigures(BaseModel):
    """What each side takes, by figure and side: milliseconds and bytes, less is better."""

    model_config = ConfigDict(frozen=True)

    figures: dict[str, dict[str, float]]
    machine: Machine

    @computed_field  # type: ignore[prop-decorator]
    @property
    def ratios(self) -> dict[str, float]:
        """The product's figures by those of the plain statement."""
        return {
            name: round(each["product"] / each["floor"], 2) for name, each in self.figures.items()
        }


async def measure(extent: Extent, data_dir: Path, *, adds: int, bulk: int) -> PeerFigures:
    """Measures all sides, in one run in turns, with the agent that has the most entries."""
    size = max(extent.population.sizes)
    figures: dict[str, dict[str, float]] = {}
    pythons = BOTH | _PYTHONS
    async with build_memories(extent, data_dir, pythons=pythons) as (retrieval, servers):
        await _fill(retrieval, agent_of(size))
        for lane in ("steady", "mixed_5", "clients_16"):
            figures |= dict(_figures_of(lane, await retrieval.lane(lane, size)))
            print_progress(f"{lane}: {[*figures.values()][-1]}")
        figures["new process: connect and first question, ms"] = {
            side: _first_answer(one) for side, one in (await retrieval.first(size)).items()
        }
        machine = await machine_of(servers)
    with tempfile.TemporaryDirectory(prefix="mnestic-adding-") as folder:
        adding = await measure_adding(adds=adds, bulk=bulk, data_dir=Path(folder))
    figures["add, p50, ms"] = {"product": adding.add_ms.p50, "floor": adding.floor_add_ms.p50}
    figures["bytes of an entry"] = {
        "product": adding.bytes_per_item,
        "floor": adding.floor_bytes_per_item,
    }
    return PeerFigures(figures=figures, machine=machine)


async def _fill(retrieval: Retrieval, agent: str) -> None:
    """Gives those that store entries of their own the memory of the agent, unless they have one."""
    for side, table in _TABLES.items():
        found = await (
            await retrieval.owner.execute("SELECT to_regclass(%s) IS NULL", [table])
        ).fetchone()
        if found != (True,):
            continue
        began = time.monotonic()
        rows = await (await retrieval.owner.execute(_CONTENTS, [agent])).fetchall()
        async with retrieval.peers.start(side) as peer:
            await peer.fill(agent, [content for (content,) in rows])
        print_progress(f"{side}: {len(rows)} entries ({time.monotonic() - began:.0f} s)")
    await retrieval.owner.execute("VACUUM (ANALYZE)")


def _figures_of(lane: str, found: Mapping[str, Latency]) -> Iterator[tuple[str, dict[str, float]]]:
    """The figures that count of a lane, by side."""

    def each(name: str) -> dict[str, float]:
        return {side: getattr(one, name) for side, one in found.items()}

    match lane:
        case "steady":
            yield "search, p50, ms", each("p50")
            yield "search, p95, ms", each("p95")
            yield (
                "search, processor time with Postgres, ms",
                {s: round(one.cpu_ms + one.postgres_cpu_ms, 2) for s, one in found.items()},
            )
        case "mixed_5":
            yield "search, a write before every fifth, p95, ms", each("p95")
        case _:
            busy = {side: round(1000 / one.per_s, 2) for side, one in found.items()}
            yield "16 clients, ms for each question", busy


def _first_answer(process: NewProcess) -> float:
    return round(process.connect + process.questions[0], 1)


def recorded_ratios(text: str) -> dict[str, float]:
    """The ratios of the table, by figure: the last cell of each row that begins with one and ends with a number."""
    rows = (line.strip().strip("|").split("|") for line in text.splitlines() if line[:1] == "|")
    cells = ([cell.strip() for cell in row] for row in rows)
    return {
        row[0]: float(row[-1])
        for row in cells
        if len(row) == len(_COLUMNS) and row[-1].replace(".", "", 1).isdigit()
    }


def worsened(ratios: Mapping[str, float], recorded: Mapping[str, float]) -> list[str]:
    """The figures whose ratio is a quarter worse than it was, or of which there is no record."""
    return [
        f"{name}: {ratio} times the plain statement, recorded is {recorded.get(name)}"
        for name, ratio in ratios.items()
        if not ratio <= recorded.get(name, 0.0) * _WORSE
    ]


def _rows(figures: PeerFigures) -> Iterator[tuple[str, ...]]:
    for name, each in figures.figures.items():
        cells = (f"{each[side]:.4g}" if side in each else "" for side in _SIDES)
        yield name, *cells, f"{figures.ratios[name]:g}"


def main() -> int:
    """Reads the options, measures, and prints the figures; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--quick", action="store_true", help="few entries, to see that it runs")
    parser.add_argument("--data", type=Path, help="directory of the servers, which stays")
    parser.add_argument("--check", action="store_true", help="fail if a ratio is a quarter worse")
    options = parser.parse_args()
    recorded = recorded_ratios(RECORD.read_text("utf-8"))
    adds, bulk = (5, 500) if options.quick else (400, 5000)
    data = options.data and options.data.resolve()
    with default_settings() as folder:
        os.environ.update(MEM0_TELEMETRY="False", MEM0_DIR=str(folder / "mem0"))
        work = measure(_QUICK if options.quick else _WHOLE, data or folder, adds=adds, bulk=bulk)
        figures = asyncio.run(work)
    if options.json:
        print_json(figures.model_dump(mode="json"))
    else:
        print_table(_COLUMNS, _rows(figures), empty="")
        print_progress(str(figures.machine))
    worse = worsened(figures.ratios, recorded) if options.check else []
    for one in worse:
        print_progress(one)
    return bool(worse)


if __name__ == "__main__":
    sys.exit(main())
