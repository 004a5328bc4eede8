"""A process, marked so that another process can find it again and end it, and never end a stranger.

The guardian has to start fast and stay small.
"""

import contextlib
import json
import time
from typing import NamedTuple, Self

import psutil

CLOCK_TOLERANCE_S = 2.0  # the kernel derives start times from a wall clock that may be corrected


class ProcessMark(NamedTuple):
    """A process by pid and start time, and how it wants to be stopped.

    `create_time` is in seconds since the epoch. Lower `stop_order` stops first. After
    `grace_s` seconds the process is killed.
    """

    name: str
    pid: int
    create_time: float
    stop_signal: int
    stop_order: int
    grace_s: float

    def to_line(self) -> str:
        """One line of JSON, without its end."""
        return json.dumps(self)

    @classmethod
    def from_line(cls, line: str) -> Self:
        """The reverse of `to_line`.

        Raises:
            ValueError: the line is not a mark.
        """
        try:
            return cls(*json.loads(line))
        except TypeError:
            raise ValueError(f"not a process mark: {line!r}") from None

    def find(self) -> psutil.Process | None:
        """The process, while it is alive and still the one that was marked."""
        try:
            process = psutil.Process(self.pid)
            same = abs(process.create_time() - self.create_time) < CLOCK_TOLERANCE_S
            alive = process.status() != psutil.STATUS_ZOMBIE
        except psutil.NoSuchProcess:
            return None
        return process if same and alive else None

    def end(self) -> bool:
        """Stops the process, in the end by SIGKILL; returns whether there was anything to stop."""
        process = self.find()
        if process is None:
            return False
        with contextlib.suppress(psutil.NoSuchProcess):  # it ended meanwhile, as it should
            process.send_signal(self.stop_signal)
            if not self.wait_ended(self.grace_s):
                process.kill()
                self.wait_ended(self.grace_s)
        return True

    def wait_ended(self, limit_s: float) -> bool:
        """Waits until the process has ended; False when it still runs after `limit_s` seconds."""
        deadline = time.monotonic() + limit_s
        while (process := self.find()) is not None:
            if time.monotonic() >= deadline:
                return False
            with contextlib.suppress(psutil.TimeoutExpired):  # look again: a zombie never "ends"
                process.wait(0.1)
        return True
