"""A process of the retrieval benchmark: it queries or adds entries, by commands on its standard input.

It is started as `python -m benchmarks.retrieval.process SIDE`, the side being the product or the floor. Each line that it
reads is a JSON object, and each is answered by one. It imports nothing of weight before its clock runs, so that
`connect_ms` is what a user's new process takes. It ends when its standard input does.
"""
# ruff: noqa: E402 - the clock runs before the imports, which are part of what connecting takes

import time

_BEGAN = time.perf_counter()

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable, Sequence
from importlib import import_module
from typing import Any, Protocol

PLAIN_URL = "BENCHMARK_PLAIN_URL"  # the variable with the address of the floor's table
# What the product is measured beside, each in a module of its own, since others need not have what it imports.
_OTHERS = {
    "floor": ("benchmarks.retrieval.plain_statement", "PlainStatement"),
    "langgraph": ("benchmarks.retrieval.langgraph_store", "LangGraphStore"),
    "mem0": ("benchmarks.retrieval.mem0_memory", "Mem0Memory"),
}
SIDES = ("product", "floor")
_CHANNEL = "benchmark"  # of all messages


class Side(Protocol):
    """A side of the comparison: the product, the plain statement, or another program."""

    async def ask(self, agent: str, question: str) -> None:
        """Reads the ten best entries."""

    async def ask_before_message(self, agent: str, question: str) -> None:
        """Retrieves what goes before a message."""

    async def add(self, agent: str, content: str) -> None:
        """Adds an entry, committed when it returns."""

    async def fill(self, agent: str, contents: Sequence[str]) -> None:
        """Adds the memory that is asked, and builds its indexes."""

    async def remove_added(self, agent: str) -> None:
        """Removes what this process has added."""

    def answers_cached(self) -> tuple[int, int]:
        """The hits and misses of this process's caches so far."""

    async def close(self) -> None:
        """Closes the connections."""


class Product:
    """The public client of memory alone, connected as the settings in the environment say."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self._added: list[str] = []

    @classmethod
    async def connect(cls) -> Side:
        """Connects to memory."""
        from mnestic.starter.client.memory_connection import (  # noqa: PLC0415 - its import is measured
            MemoryConnection,
        )

        return cls(await MemoryConnection.connect())

    async def ask(self, agent: str, question: str) -> None:
        """See `Side`."""
        await self._connection.memory(agent).retrieve(question)

    async def ask_before_message(self, agent: str, question: str) -> None:
        """See `Side`."""
        await self._connection.memory(agent).auto_retrieve(question, _CHANNEL)

    async def add(self, agent: str, content: str) -> None:
        """See `Side`."""
        entry = await self._connection.memory(agent).add(content)
        self._added.append(entry.id)

    async def fill(self, agent: str, contents: Sequence[str]) -> None:
        """See `Side`; `benchmarks.retrieval.data` has done it."""

    async def remove_added(self, agent: str) -> None:
        """See `Side`."""
        memory = self._connection.memory(agent)
        for entry_id in self._added:
            await memory.entries.delete(entry_id)

    def answers_cached(self) -> tuple[int, int]:
        """See `Side`."""
        answers = self._connection.cache_counts().answers
        return answers.hits, answers.misses

    async def close(self) -> None:
        """See `Side`."""
        await self._connection.close()


async def connect(side: str) -> Side:
    """Connects the product, or what it is measured beside."""
    if side == "product":
        return await Product.connect()
    module, name = _OTHERS[side]
    found: Side = await getattr(import_module(module), name).connect(os.environ[PLAIN_URL])
    return found


async def answer(side: Side, command: dict[str, Any]) -> dict[str, Any]:
    """Runs a command; `benchmarks.retrieval.peers` has the fields of commands and answers."""
    if "add" in command:
        await side.add(command["agent"], command["add"])
        return {}
    if "fill" in command:
        await side.fill(command["agent"], command["fill"])
        return {}
    if "remove_added" in command:
        await side.remove_added(command["remove_added"])
        return {}
    query_once = side.ask_before_message if command["before_message"] else side.ask
    hits, misses = side.answers_cached()
    began, busy = time.perf_counter(), time.process_time()
    durations_ms = await _run_queries(query_once, command["questions"], clients=command["clients"])
    elapsed, busy = time.perf_counter() - began, time.process_time() - busy
    hits, misses = (
        after - before for after, before in zip(side.answers_cached(), (hits, misses), strict=True)
    )
    return {
        "ms": durations_ms,
        "elapsed_s": elapsed,
        "cpu_s": busy,
        "cached": hits,
        "not_cached": misses,
    }


async def _run_queries(
    query_once: Callable[[str, str], Awaitable[None]],
    questions: list[tuple[str, str]],
    *,
    clients: int,
) -> list[float]:
    """The milliseconds of each question, with this number of concurrent clients."""
    durations_ms: list[float] = []
    remaining = iter(questions)

    async def one_after_the_other() -> None:
        for agent, question in remaining:
            began = time.perf_counter()
            await query_once(agent, question)
            durations_ms.append((time.perf_counter() - began) * 1000)

    await asyncio.gather(*(one_after_the_other() for _ in range(clients)))
    return durations_ms


async def main() -> None:
    """Connects, then answers each line."""
    side = await connect(sys.argv[1])
    _write({"connect_ms": (time.perf_counter() - _BEGAN) * 1000})
    try:
        while line := await asyncio.to_thread(sys.stdin.readline):
            _write(await answer(side, json.loads(line)))
    finally:
        await side.close()


def _write(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(main())
