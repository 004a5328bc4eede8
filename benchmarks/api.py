"""Measures the HTTP API: `python benchmarks/api.py --json`; progress goes to standard error.

Beside each figure is the same call of the Python client without HTTP, in the process that sends the requests. The servers,
a worker and the API are processes of their own, in a directory that is removed afterwards.
"""

import argparse
import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol, TypeVar

import httpx2
import psutil
import psycopg
from pydantic import BaseModel, ConfigDict

from benchmarks.default_settings import default_settings
from benchmarks.figures import Machine, Spread, spread
from benchmarks.jobs.jobs import machine_of
from benchmarks.lanes import Lanes
from benchmarks.messages import messages
from benchmarks.retrieval.queries import questions
from mnestic.memory.knowledge.resources import Resource
from mnestic.starter.cli.output import print_json, print_progress, print_table
from mnestic.starter.client.ingestion import start_ingest
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.embedded.runtime import EmbeddedRuntime
from mnestic.starter.logs import configure_logs
from mnestic.starter.settings import Settings
from mnestic.stores.postgres.schema import migrate

_NAME, _AGENT = "api-benchmark", "ada"
_SEED = 21
_AT_ONCE = 500  # messages stored in one transaction beforehand
Value = TypeVar("Value")
COLUMNS = ("call", "clients", "HTTP a second", "p50 / p95, ms", "without HTTP", "p50 / p95, ms")


@dataclass(frozen=True, kw_only=True)
class Extent:
    """How much is measured."""

    entries: int = 2_000
    clients: tuple[int, ...] = (1, 16, 64)
    requests: int = 160  # of each call, with each number of clients
    warm_up: int = 16


QUICK = Extent(entries=200, requests=64, warm_up=8)


class Load(Spread):
    """Requests: milliseconds of each, how many a second, and processor time of a request in the process that serves it."""

    per_s: float
    cpu_ms: float


class Compared(BaseModel):
    """A call over HTTP, and without."""

    model_config = ConfigDict(frozen=True)

    http: Load
    client: Load


class ApiFigures(BaseModel):
    """All figures, by the number of clients at once."""

    model_config = ConfigDict(frozen=True)

    entries: int
    requests: int
    retrieve: dict[int, Compared]
    ingest: dict[int, Compared]
    machine: Machine


class Side(Protocol):
    """A way to memory, and the process that does the work of its calls."""

    pid: int

    async def retrieve(self, question: str) -> None:
        """Reads the ten best entries."""

    async def ingest(self, message: Resource) -> None:
        """Stores a message, committed when it returns."""


class OverHttp:
    """Requests on connections that stay open, as an agent sends them."""

    def __init__(self, http: httpx2.AsyncClient, *, pid: int) -> None:
        self._http, self.pid = http, pid

    async def retrieve(self, question: str) -> None:
        """See `Side`."""
        answer = await self._http.get("/v1/retrieve", params={"q": question})
        answer.raise_for_status()

    async def ingest(self, message: Resource) -> None:
        """See `Side`."""
        document = message.model_dump(
            mode="json",
            include={"speaker", "content", "session_id", "source_id", "channel", "at"},
        )
        answer = await self._http.post("/v1/ingest", json={"messages": [document]})
        answer.raise_for_status()


class InProcess:
    """The Python client's methods, in this process."""

    def __init__(self, memory: MemoryClient) -> None:
        self._memory, self.pid = memory, os.getpid()

    async def retrieve(self, question: str) -> None:
        """See `Side`."""
        await self._memory.retrieve(question)

    async def ingest(self, message: Resource) -> None:
        """See `Side`."""
        await self._memory.ingest([message])


async def measure(extent: Extent, data_dir: Path) -> ApiFigures:
    """Learns what is searched, then measures both calls on both sides, which take turns."""
    settings = Settings(data_dir=data_dir, task_queue=_NAME)
    configure_logs(settings)  # requests are not logged
    async with EmbeddedRuntime(
        settings, report=print_progress, migrate=migrate, start_worker=False, start_api=True
    ) as runtime:
        lanes = Lanes(runtime.state, data_dir)
        async with lanes.open(_NAME) as lane:
            memory = lane.client.memory(_AGENT)
            learned = await _learn(memory, extent.entries)
            await (await start_ingest(lane.client, agent_id=_AGENT)).result()
            await _vacuum(runtime.state.database_admin_url)
            issued = await lane.client.api_keys().create(agents=[_AGENT], actions=["read", "write"])
            most = max(extent.clients)
            async with httpx2.AsyncClient(
                base_url=str(runtime.state.api_url),
                headers={"Authorization": f"Bearer {issued.text}"},
                limits=httpx2.Limits(max_connections=most, max_keepalive_connections=most),
                timeout=60,
            ) as http:
                (pid,) = (mark.pid for mark in runtime.state.parts if mark.name == "HTTP API")
                sides = (OverHttp(http, pid=pid), InProcess(memory))
                retrieve, ingest = await _compare(extent, sides, learned)
        return ApiFigures(
            entries=extent.entries,
            requests=extent.requests,
            retrieve=retrieve,
            ingest=ingest,
            machine=await machine_of(lanes),
        )


async def _vacuum(admin_url: str | None) -> None:
    """Has the tables vacuumed and analysed, as autovacuum does within a minute; until then plans are of empty tables."""
    assert admin_url is not None, "the runtime is not started"
    async with await psycopg.AsyncConnection.connect(admin_url, autocommit=True) as owner:
        await owner.execute("VACUUM ANALYZE")


async def _learn(memory: MemoryClient, number: int) -> list[tuple[str, str]]:
    learned, batch = [], []
    for message in messages(number, seed=_SEED):
        learned.append((message.speaker, message.content))
        batch.append(message)
        if len(batch) == _AT_ONCE:
            await memory.ingest(batch)
            batch = []
    await memory.ingest(batch)
    return learned


async def _compare(
    extent: Extent, sides: tuple[Side, Side], learned: list[tuple[str, str]]
) -> tuple[dict[int, Compared], dict[int, Compared]]:
    """Each side gets questions and messages of its own, so that no cache of one serves the other."""
    number = extent.warm_up + extent.requests
    every = number * len(sides) * len(extent.clients)
    of_questions = iter(questions(learned, number=every, seed=_SEED + 1))
    of_messages = iter(tuple(messages(every, seed=_SEED + 2)))
    retrieve: dict[int, Compared] = {}
    ingest: dict[int, Compared] = {}
    for clients in extent.clients:
        for name, found in (("retrieve", retrieve), ("ingest", ingest)):
            loads = []
            for side in sides:
                if name == "retrieve":
                    calls = _calls(side.retrieve, of_questions, number)
                else:
                    calls = _calls(side.ingest, of_messages, number)
                for _ in range(extent.warm_up):
                    await next(calls)()
                loads.append(await _load(side, tuple(calls), clients=clients))
            found[clients] = Compared(http=loads[0], client=loads[1])
            rates = " and ".join(f"{one.per_s:.0f}" for one in loads)
            print_progress(f"{name} by {clients} at once: {rates} a second, with HTTP and without")
    return retrieve, ingest


def _calls(
    call: Callable[[Value], Awaitable[None]], values: Iterator[Value], number: int
) -> Iterator[Callable[[], Awaitable[None]]]:
    for _ in range(number):
        yield partial(call, next(values))


async def _load(
    side: Side, calls: tuple[Callable[[], Awaitable[None]], ...], *, clients: int
) -> Load:
    """So many clients at once, each with one request after the other."""
    waiting, taken = iter(calls), []

    async def client() -> None:
        for call in waiting:
            began = time.perf_counter()
            await call()
            taken.append((time.perf_counter() - began) * 1000)

    cpu, began = _cpu_s(side.pid), time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for _ in range(clients):
            group.create_task(client())
    seconds = time.perf_counter() - began
    used_ms = (_cpu_s(side.pid) - cpu) * 1000
    spreads = spread(taken)
    return Load(
        p50=spreads.p50,
        p95=spreads.p95,
        per_s=round(len(taken) / seconds, 1),
        cpu_ms=round(used_ms / len(taken), 2),
    )


def _cpu_s(pid: int) -> float:
    """The processor time of a process, and of those that serve for it, in seconds."""
    process = psutil.Process(pid)
    serving = process.children() if pid != os.getpid() else []
    return sum(sum(one.cpu_times()[:2]) for one in (process, *serving))


def rows(figures: ApiFigures) -> Iterator[tuple[str, ...]]:
    """The figures as a table."""
    for name, found in (("retrieve", figures.retrieve), ("ingest", figures.ingest)):
        for clients, one in found.items():
            yield (name, str(clients), *_cells(one.http), *_cells(one.client))


def _cells(load: Load) -> tuple[str, str]:
    return f"{load.per_s:.0f}", f"{load.p50:.1f} / {load.p95:.1f}"


def main() -> None:
    """Reads the options, measures, and prints the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--processes", type=int, default=1, help="processes that serve the API")
    parser.add_argument("--quick", action="store_true", help="few requests, to see that it runs")
    options = parser.parse_args()
    with default_settings() as folder:
        os.environ["MNESTIC_HTTP_PROCESSES"] = str(options.processes)
        figures = asyncio.run(measure(QUICK if options.quick else Extent(), folder))
    if options.json:
        print_json(figures.model_dump(mode="json"))
        return
    print_table(COLUMNS, rows(figures), empty="Nothing was measured.")
    print_progress(str(figures.machine))


if __name__ == "__main__":
    main()
