"""The supervisor: starts a part again when it ends by itself, and gives up by name.

When a part is tried again, and how often, is one decision for all of them; how one is started is the matter of its own
module.
"""

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Self

from mnestic.memory.errors import MnesticError, ProcessCrashedError
from mnestic.starter.embedded.process_group import ManagedProcess

Start = Callable[[], Awaitable[ManagedProcess]]


@dataclass(frozen=True, kw_only=True)
class RestartPolicy:
    """How often a part is started again `within` a time; the pause before it doubles each time."""

    tries: int = 6
    within: timedelta = timedelta(minutes=10)
    first_pause: timedelta = timedelta(seconds=0.5)

    def pause(self, number: int) -> timedelta:
        """How long to wait before the restart of that number, from 1 on."""
        return self.first_pause * (1 << (number - 1))


class SupervisedProcess:
    """A part that is started again whenever it ends by itself."""

    def __init__(
        self,
        part: ManagedProcess,
        start: Start,
        *,
        report: Callable[[str], None],
        policy: RestartPolicy,
        give_up: Callable[[BaseException], None],
    ) -> None:
        self.part = part
        self._start, self._report, self._policy = start, report, policy
        self._ends: deque[float] = deque()
        self._up = asyncio.Event()
        self._up.set()
        self._give_up = give_up
        self._task = asyncio.create_task(self._keep_running())
        self._task.add_done_callback(self._end)

    async def until_up(self) -> None:
        """Waits until the part runs."""
        await self._up.wait()

    async def release(self) -> None:
        """Stops supervising; the part continues, or stays down."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _keep_running(self) -> None:
        while True:
            await self.part.wait()
            if self.part.is_stopping:
                return
            self._up.clear()
            await self._start_again()
            self._up.set()

    async def _start_again(self) -> None:
        name = self.part.spec.name
        why = str(self.part.crash())
        while True:
            number = self._count_end()
            if number > self._policy.tries:
                raise self._given_up(number, why)
            pause = self._policy.pause(number)
            self._report(f"{why}; starting it again in {pause.total_seconds():g} s")
            await asyncio.sleep(pause.total_seconds())
            try:
                self.part = await self._start()
            except (
                MnesticError,
                OSError,
            ) as error:  # OSError: the disk is full, or no process more is allowed
                why = str(error)
            else:
                self._report(f"{name} runs again (pid {self.part.mark.pid})")
                return

    def _given_up(self, times: int, why: str) -> ProcessCrashedError:
        minutes = self._policy.within.total_seconds() / 60
        return ProcessCrashedError(
            part=self.part.spec.name,
            why=f"ended or did not start {times} times within {minutes:g} minutes, so it is given up; "
            f"the last time: {why}",
        )

    def _end(self, task: asyncio.Task[None]) -> None:
        error = None if task.cancelled() else task.exception()
        if error is not None:
            self._give_up(error)

    def _count_end(self) -> int:
        """Counts one more end, or start that failed; returns how many there were lately."""
        now = time.monotonic()
        self._ends.append(now)
        while now - self._ends[0] > self._policy.within.total_seconds():
            self._ends.popleft()
        return len(self._ends)


class Supervisor:
    """Supervises parts for as long as a block; `report` gets a line when one ends and when it is back."""

    def __init__(self, report: Callable[[str], None], policy: RestartPolicy | None = None) -> None:
        self._report, self._policy = report, policy or RestartPolicy()
        self._supervised: list[SupervisedProcess] = []
        self._over: asyncio.Future[None] | None = None

    async def __aenter__(self) -> Self:
        """Begins with nothing to supervise."""
        self._over = asyncio.get_running_loop().create_future()
        return self

    async def __aexit__(self, *failure: object) -> None:
        """Stops supervising; running parts continue."""
        for supervised in self._supervised:
            await supervised.release()
        if self._over is not None and not self._over.done():
            self._over.set_result(None)
        elif self._over is not None:
            self._over.exception()  # a waiter has it, or nothing waited

    def supervise(
        self,
        part: ManagedProcess,
        start: Start,
        *,
        give_up: Callable[[BaseException], None] | None = None,
    ) -> SupervisedProcess:
        """Begins with a part that runs.

        Args:
            part: The part.
            start: Returns another once it is ready.
            give_up: Is told that the part is given up; without it the others cannot go on, and `wait` raises that.
        """
        supervised = SupervisedProcess(
            part,
            start,
            report=self._report,
            policy=self._policy,
            give_up=give_up or self._give_up,
        )
        self._supervised.append(supervised)
        return supervised

    async def wait(self) -> None:
        """Waits until the block is left, or a part is given up without which the others cannot go on.

        Raises:
            ProcessCrashedError: names the part.
        """
        assert self._over is not None, "the supervisor was never entered"
        await asyncio.shield(self._over)

    def _give_up(self, error: BaseException) -> None:
        if self._over is not None and not self._over.done():
            self._over.set_exception(error)
