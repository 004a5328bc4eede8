"""The processes of a lane, seen from the benchmark: the product's and others', queried in turn.

The lanes query only through them.
"""

import asyncio
import json
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Any

import psutil
from pydantic import BaseModel, ConfigDict

from benchmarks.retrieval.process import SIDES

BOTH = dict.fromkeys(SIDES, sys.executable)
Question = tuple[str, str]  # the agent and the question


class Block(BaseModel):
    """The durations of a block of questions, by one client or several concurrent ones.

    `cpu_s` is the processor time of the process that asks; `cached` and `not_cached` count answers.
    """

    model_config = ConfigDict(frozen=True)

    ms: tuple[float, ...]
    elapsed_s: float
    cpu_s: float
    cached: int
    not_cached: int


class Peer:
    """One process of one side."""

    def __init__(self, process: Process, *, connect_ms: float) -> None:
        self._process, self.connect_ms = process, connect_ms

    async def ask(
        self, questions: Sequence[Question], *, clients: int = 1, before_message: bool = False
    ) -> Block:
        """Asks, by so many clients at once."""
        command = {"questions": questions, "clients": clients, "before_message": before_message}
        return Block.model_validate(await self._send(command))

    async def add(self, agent: str, content: str) -> None:
        """Adds an entry, which is committed when this returns."""
        await self._send({"agent": agent, "add": content})

    async def fill(self, agent: str, contents: Sequence[str]) -> None:
        """Gives a side that keeps its own entries the memory that is asked."""
        await self._send({"agent": agent, "fill": contents})

    async def remove_added(self, agent: str) -> None:
        """Removes what the process has added."""
        await self._send({"remove_added": agent})

    def rss_mib(self) -> float:
        """The memory that the process has now."""
        return psutil.Process(self._process.pid).memory_info().rss / 2**20

    async def _send(self, command: Mapping[str, Any]) -> Any:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(command).encode() + b"\n")
        return await _answer(self._process)


class Peers:
    """Starts processes of the sides, all with the same settings; each has a Python of its own, in which it is installed."""

    def __init__(
        self,
        environment: Mapping[str, str],
        *,
        postgres: psutil.Process,
        pythons: Mapping[str, str] = BOTH,
    ) -> None:
        self._environment, self._postgres, self._pythons = environment, postgres, pythons

    @property
    def sides(self) -> tuple[str, ...]:
        """Whose processes they are."""
        return tuple(self._pythons)

    @asynccontextmanager
    async def open(self) -> AsyncIterator[dict[str, Peer]]:
        """A new process of each side, for as long as a block."""
        async with AsyncExitStack() as opened:
            yield {side: await opened.enter_async_context(self.start(side)) for side in self.sides}

    @asynccontextmanager
    async def start(self, side: str) -> AsyncIterator[Peer]:
        """A new process of one side, for as long as a block.

        Raises:
            RuntimeError: the process ended instead; its output is on standard error.
        """
        process = await asyncio.create_subprocess_exec(
            self._pythons[side],
            *("-m", "benchmarks.retrieval.process", side),
            stdin=PIPE,
            stdout=PIPE,
            env=self._environment,
            limit=2**24,  # bytes of a line
        )
        try:
            yield Peer(process, connect_ms=(await _answer(process))["connect_ms"])
        finally:
            assert process.stdin is not None
            process.stdin.close()
            await process.wait()

    def backends(self) -> "Backends":
        """Postgres and the backends that it has now."""
        return Backends(self._postgres)


class Backends:
    """Postgres with the backends that it had when this was made, and what has ended since."""

    def __init__(self, postgres: psutil.Process) -> None:
        self._postgres, self._running = postgres, postgres.children()

    def cpu_s(self) -> float:
        """Their processor time so far."""
        spent = 0.0
        for process in (self._postgres, *self._running):
            with suppress(psutil.NoSuchProcess):  # it ended, so the first one counts it
                times = process.cpu_times()
                spent += times.user + times.system
        ended = self._postgres.cpu_times()
        return spent + ended.children_user + ended.children_system


async def _answer(process: Process) -> Any:
    assert process.stdout is not None
    line = await process.stdout.readline()
    if not line:
        raise RuntimeError("a process of the benchmark ended before its answer")
    return json.loads(line)
