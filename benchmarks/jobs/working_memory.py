"""Measures working memory beside LangGraph: `python benchmarks/jobs/working_memory.py --json`.

Both save and load the same content on the same embedded Postgres, in alternation. The product goes
through the transaction that its activities use and through `MemoryClient`; LangGraph through its
`AsyncPostgresSaver`, which is installed by `make bench-working` alone.
"""

import argparse
import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import psycopg
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from psycopg.conninfo import make_conninfo
from pydantic import BaseModel, ConfigDict

from benchmarks.conversations import with_conversation
from benchmarks.default_settings import default_settings
from benchmarks.figures import Machine, Spread, spread
from benchmarks.jobs.jobs import machine_of
from benchmarks.lanes import Lanes
from mnestic.memory.jobs.working_memory import Message, WorkingMemory
from mnestic.memory.ports import Memory
from mnestic.starter.cli.output import print_json, print_progress, print_table
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.embedded.runtime import EmbeddedRuntime
from mnestic.starter.settings import Settings
from mnestic.starter.wiring import find_endpoints, open_memory
from mnestic.stores.postgres.schema import migrate
from mnestic.worker import freeze_heap

TENANT = "working"
_AGENT = "agent"
_VARIABLES = 60
_WARM_UP = 10
_TARGET = 1.2
LANES = ("mnestic", "langgraph", "langgraph_messages")
WAYS = ("save", "load")


class Run(BaseModel):
    """One run: milliseconds by the clock and of this process's processor time, by way and lane."""

    model_config = ConfigDict(frozen=True)

    ms: dict[str, dict[str, Spread]]
    cpu_ms: dict[str, dict[str, float]]

    def ratio(self, way: str) -> float:
        """How many times as long the product takes as LangGraph with the same JSON values, at the median."""
        return round(self.ms[way]["mnestic"].p50 / self.ms[way]["langgraph"].p50, 2)


class WorkingMemoryFigures(BaseModel):
    """All runs, and the median of their ratios."""

    model_config = ConfigDict(frozen=True)

    size_bytes: int
    runs: tuple[Run, ...]
    ratios: dict[str, float]
    machine: Machine


async def measure(
    *, size_kib: int, samples: int, runs: int, data_dir: Path
) -> WorkingMemoryFigures:
    """Measures saving and loading, so many runs of so many samples each."""
    settings = Settings(data_dir=data_dir, tenant_id=TENANT, task_queue=TENANT)
    async with EmbeddedRuntime(
        settings, report=print_progress, migrate=migrate, start_worker=False
    ) as runtime:
        lanes = Lanes(runtime.state, data_dir)
        state = _state(size_kib * 1024)
        sessions = [f"run-{number}" for number in range(runs)]
        found = tuple(
            [await _run(lanes, state, session=each, samples=samples) for each in sessions]
        )
        return WorkingMemoryFigures(
            size_bytes=len(state.document().body),
            runs=found,
            ratios={way: statistics.median(run.ratio(way) for run in found) for way in WAYS},
            machine=await machine_of(lanes),
        )


async def _run(lanes: Lanes, state: WorkingMemory, *, session: str, samples: int) -> Run:
    memory = open_memory(find_endpoints(lanes.settings(TENANT)))
    url = await _peer_database(str(lanes.state.database_admin_url))
    try:
        async with (
            lanes.client(TENANT) as client,
            AsyncPostgresSaver.from_conn_string(url) as saver,
        ):
            await saver.setup()
            product = _Mnestic(memory, client.memory(_AGENT), state, session=session)
            plain = _LangGraph(saver, _channels(state), thread="plain")
            typed = _LangGraph(saver, _channels(state, _as_langchain), thread="messages")
            freeze_heap()  # as a worker does
            found = await _taken(
                dict(zip(LANES, (product, plain, typed), strict=True)), samples=samples
            )
    finally:
        await memory.close()
    print_progress(", ".join(f"{way}: {found.ratio(way)} times LangGraph" for way in WAYS))
    return found


class _Mnestic:
    """A session that is saved and loaded again and again, each in a transaction of its own."""

    def __init__(
        self, memory: Memory, client: MemoryClient, state: WorkingMemory, *, session: str
    ) -> None:
        self._memory, self._client = memory, client
        self._state, self._session = state, session

    async def save(self, step: int) -> None:
        async with self._memory.transaction(
            tenant_id=TENANT, agent_id=_AGENT, actor="benchmark", write=True
        ) as transaction:
            changed = self._state.with_variables({"step": step})
            self._state = await transaction.working.save(self._session, changed)

    async def load(self, step: int) -> None:
        state = await self._client.working_memory.get(self._session)
        assert state.variables["step"] == step
        assert len(state.messages) == len(self._state.messages)


class _LangGraph:
    """A thread's checkpoint that is saved and loaded again and again."""

    def __init__(self, saver: Any, channels: Mapping[str, Any], *, thread: str) -> None:
        self._saver, self._channels, self._thread = saver, channels, thread
        self._parent: str | None = None

    async def save(self, step: int) -> None:
        variables = {**self._channels["variables"], "step": step}
        channels = {**self._channels, "variables": variables}
        versions = dict.fromkeys(channels, str(step))
        checkpoint = empty_checkpoint() | {
            "channel_values": channels,
            "channel_versions": versions,
        }
        config = self._config(checkpoint_id=self._parent)
        saved = await self._saver.aput(
            config, checkpoint, {"source": "loop", "step": step}, versions
        )
        self._parent = saved["configurable"]["checkpoint_id"]

    async def load(self, step: int) -> None:
        found = await self._saver.aget_tuple(self._config())
        values = found.checkpoint["channel_values"]
        assert values["variables"]["step"] == step
        assert len(values["messages"]) == len(self._channels["messages"])

    def _config(self, **more: str | None) -> dict[str, Any]:
        return {"configurable": {"thread_id": self._thread, "checkpoint_ns": "", **more}}


async def _taken(lanes: Mapping[str, "_Mnestic | _LangGraph"], *, samples: int) -> Run:
    """Samples of each, in turn and in another order each time, so that what disturbs one disturbs all."""
    clock: dict[str, dict[str, list[float]]] = {way: {name: [] for name in lanes} for way in WAYS}
    processor: dict[str, dict[str, list[float]]] = {
        way: {name: [] for name in lanes} for way in WAYS
    }
    names = list(lanes)
    for step in range(_WARM_UP + samples):
        names = [*names[1:], names[0]]
        for way in WAYS:
            for name in names:
                taken, used = await _timed(getattr(lanes[name], way), step)
                clock[way][name].append(taken)
                processor[way][name].append(used)
    return Run(
        ms={
            way: {name: spread(values[_WARM_UP:]) for name, values in by_lane.items()}
            for way, by_lane in clock.items()
        },
        cpu_ms={
            way: {
                name: round(statistics.median(values[_WARM_UP:]), 2)
                for name, values in by_lane.items()
            }
            for way, by_lane in processor.items()
        },
    )


async def _timed(work: Callable[[int], Awaitable[None]], step: int) -> tuple[float, float]:
    clock, processor = time.perf_counter(), time.process_time()
    await work(step)
    return (time.perf_counter() - clock) * 1000, (time.process_time() - processor) * 1000


def _state(size_bytes: int) -> WorkingMemory:
    """A session of so many bytes: variables as recalls and tools leave them, and a conversation."""
    variables: dict[str, Any] = {
        f"found_{index}": {
            "city": "Malmö",
            "likes": ["tea", "maps"],
            "seen": index,
            "score": index / 7,
            "sure": index % 2 == 0,
            "note": "met at the harbour, and asked for the map of the Scheldt",
        }
        for index in range(_VARIABLES)
    }
    state = (
        WorkingMemory()
        .with_variables({**variables, "step": 0})
        .with_note("Mara has moved; ask for the new address.")
        .with_task("answer")
    )
    return with_conversation(state, size_bytes - len(state.document().body))


def _channels(
    state: WorkingMemory, message: Callable[[Message], Any] | None = None
) -> dict[str, Any]:
    """The same content as LangGraph's channels: messages as JSON values, or as LangChain's own."""
    channels = state.model_dump(mode="json", exclude={"version", "last_checkpoint"})
    if message is not None:
        channels["messages"] = [message(each) for each in state.messages]
    return channels


def _as_langchain(message: Message) -> BaseMessage:
    kind = HumanMessage if message.role == "user" else AIMessage
    more = {"at": message.at.isoformat(), "channel": message.channel}
    return kind(
        content=message.content, id=message.id, name=message.speaker, additional_kwargs=more
    )


async def _peer_database(admin_url: str) -> str:
    """A database of LangGraph's own on the same server."""
    async with await psycopg.AsyncConnection.connect(admin_url, autocommit=True) as connection:
        await connection.execute("DROP DATABASE IF EXISTS langgraph")
        await connection.execute("CREATE DATABASE langgraph")
    return make_conninfo(admin_url, dbname="langgraph")


def _rows(figures: WorkingMemoryFigures) -> Iterator[tuple[str, ...]]:
    for run in figures.runs:
        for way in WAYS:
            cells = (
                f"{run.ms[way][lane].p50:.1f} (p95 {run.ms[way][lane].p95:.1f})" for lane in LANES
            )
            yield (f"{way}, ms", *cells, f"{run.ratio(way):.2f}")
    for way in WAYS:
        yield f"{way}, median of the runs", "", "", "", f"{figures.ratios[way]:.2f} (<= {_TARGET})"


def main() -> None:
    """Reads the options, measures, and prints the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--size", type=int, default=256, help="KiB of working memory")
    parser.add_argument("--samples", type=int, default=200)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    with default_settings() as folder:
        figures = asyncio.run(
            measure(
                size_kib=options.size,
                samples=options.samples,
                runs=options.runs,
                data_dir=folder,
            )
        )
    if options.json:
        print_json(figures.model_dump(mode="json"))
        return
    print_table(
        ("what", "here", "LangGraph, JSON values", "LangGraph, LangChain messages", "ratio"),
        _rows(figures),
        empty="Nothing was measured.",
    )
    print_progress(str(figures.machine))


if __name__ == "__main__":
    main()
