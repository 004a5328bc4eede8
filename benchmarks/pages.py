"""Measures the pages of a large memory: `python benchmarks/pages.py --json`; progress goes to standard error.

Requests go through the whole application in this process, without a network. Everything runs on an embedded runtime of its own, in a
directory that is removed afterwards.
"""

import argparse
import asyncio
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import httpx2
from pydantic import BaseModel, ConfigDict

from benchmarks.default_settings import default_settings
from benchmarks.figures import Machine, Spread, spread
from benchmarks.jobs.jobs import machine_of
from benchmarks.lanes import Lanes
from benchmarks.maintenance import AGENT, BASE, QUICK_BASE, Maintained
from mnestic.memory.access.api_keys import ACTIONS
from mnestic.memory.knowledge.facts import Fact
from mnestic.starter.cli.output import print_json, print_progress, print_table
from mnestic.starter.embedded.runtime import EmbeddedRuntime
from mnestic.starter.http.app import make_app
from mnestic.starter.settings import Settings
from mnestic.starter.tenants import Tenants
from mnestic.stores.postgres.schema import migrate

SIZE, SAMPLES = 100_000, 20
_SERVER = "http://127.0.0.1"
_QUESTION = "What did the customer say about the delivery?"


class PageFigures(BaseModel):
    """Of one page, in milliseconds: its first request to a new application, and later ones."""

    model_config = ConfigDict(frozen=True)

    first_ms: float
    warm_ms: Spread
    kib: float


class PagesFigures(BaseModel):
    """By page, in the order of their requests; the first search loads the model of embeddings."""

    model_config = ConfigDict(frozen=True)

    entries: int
    facts: int
    pages: dict[str, PageFigures]
    machine: Machine


async def measure(size: int, *, base: int, samples: int, data_dir: Path) -> PagesFigures:
    """Measures each page for an agent with so many entries."""
    async with EmbeddedRuntime(
        Settings(data_dir=data_dir), report=print_progress, migrate=migrate, start_worker=False
    ) as runtime:
        lanes = Lanes(runtime.state, data_dir)
        maintained = Maintained(lanes, base=base)
        await maintained.learn()
        await maintained.build(size)
        await maintained.measure(size, "monthly")  # copies lack the graph, and this builds it
        async with lanes.client(maintained.tenant(size)) as client:
            key = await client.api_keys().create(agents=["*"], actions=ACTIONS)
            (fact, *_), cursor = await client.memory(AGENT).facts.list(limit=50)
            sizes = (await client.maintenance.growth()).sizes
        found = {}
        for name, path, parameters in _pages(fact, cursor=cursor):
            async with await Tenants.connect(lanes.settings(maintained.tenant(size))) as tenants:
                found[name] = await _measured(
                    tenants, f"/ui/{path}", parameters, key=key.text, samples=samples
                )
            print_progress(f"{name}: {found[name]}")
        return PagesFigures(
            entries=sizes.entries, facts=sizes.facts, pages=found, machine=await machine_of(lanes)
        )


async def _measured(
    tenants: Tenants, path: str, parameters: Mapping[str, str | None], *, key: str, samples: int
) -> PageFigures:
    async with httpx2.AsyncClient(
        transport=httpx2.ASGITransport(make_app(tenants)),
        base_url=_SERVER,
        cookies={"mnestic_key": key},
        timeout=120,
    ) as http:
        taken = []
        for _ in range(1 + samples):
            began = time.perf_counter()
            answer = await http.get(path, params=parameters)
            taken.append((time.perf_counter() - began) * 1000)
            if answer.status_code != httpx2.codes.OK:
                raise RuntimeError(f"{path} answered {answer.status_code}")
    first, *warm = taken
    kib = round(len(answer.content) / 1024, 1)
    return PageFigures(first_ms=round(first, 1), warm_ms=spread(warm), kib=kib)


def _pages(
    fact: Fact, *, cursor: str | None
) -> Iterator[tuple[str, str, Mapping[str, str | None]]]:
    """The pages: how the figures name each, its path, and its parameters."""
    one = {"agent_id": AGENT}
    yield "facts", "memory", one
    yield "facts, next page", "memory", {**one, "cursor": cursor}
    yield "facts about one", "memory", {**one, "subject": fact.subject}
    yield "history of a fact", f"memory/facts/{fact.id}", one
    yield "search by both", "memory/search", {**one, "q": _QUESTION}
    yield "search by words", "memory/search", {**one, "q": "delivery", "mode": "text"}
    yield "auto-retrieval", "memory/auto-retrieval", one
    yield "graph", "graph", {**one, "limit": "200"}
    yield "graph around one", "graph", {**one, "name": fact.subject, "depth": "2"}
    for name in ("agents", "costs", "maintenance", "audit"):
        yield name, name, {}


def main() -> None:
    """Reads the options, measures, and prints the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--quick", action="store_true", help="few entries, to see that it runs")
    parser.add_argument("--size", type=int, default=SIZE, help=f"entries; a multiple of {BASE}")
    options = parser.parse_args()
    base, size = (QUICK_BASE, QUICK_BASE) if options.quick else (BASE, options.size)
    if size % base:
        parser.error(f"--size: give a multiple of {base}")
    samples = 2 if options.quick else SAMPLES
    with default_settings() as folder:
        figures = asyncio.run(measure(size, base=base, samples=samples, data_dir=folder))
    if options.json:
        print_json(figures.model_dump(mode="json"))
        return
    print_table(
        ("page", "first, ms", "later, ms (p95)", "KiB"),
        [
            (name, f"{one.first_ms}", f"{one.warm_ms.p50} ({one.warm_ms.p95})", f"{one.kib}")
            for name, one in figures.pages.items()
        ],
        empty="Nothing was measured.",
    )


if __name__ == "__main__":
    main()
