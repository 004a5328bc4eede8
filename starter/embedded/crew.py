"""The crew: the child processes of one runtime, watched while they run and stopped in order.

It stands alone because every part, whatever it is, has to be started, recorded with the guardian,
reported by name when it ends by itself, and ended by its own pid.
"""

import asyncio
import contextlib
import os
import signal
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

import psutil

from mnestic.memory.errors import PartCrashedError
from mnestic.starter.embedded.guardian import DONE
from mnestic.starter.embedded.process_mark import ProcessMark

MAX_LOG_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True, kw_only=True)
class PartSpec:
    """What to start, and how it wants to be stopped.

    `owner` is a (user id, group id) to run as, None for our own.
    """

    name: str
    command: tuple[str | Path, ...]
    log: Path
    stop_signal: signal.Signals = signal.SIGTERM
    stop_order: int = 0
    grace_s: float = 10.0
    cwd: Path | None = None
    env: Mapping[str, str] | None = None
    owner: tuple[int, int] | None = None


class Part:
    """A running child process; once `require`d, its end is a crash of the crew."""

    def __init__(self, spec: PartSpec, process: asyncio.subprocess.Process) -> None:
        self.spec = spec
        self.mark = _mark(spec, process.pid)
        self.required = False
        self._process = process

    @property
    def exit_code(self) -> int | None:
        """The exit code, None while the process runs."""
        return self._process.returncode

    async def wait(self, limit_s: float | None = None) -> int | None:
        """Waits for the end, for `limit_s` seconds at most; returns the exit code or None."""
        with contextlib.suppress(TimeoutError):  # None says that it still runs
            async with asyncio.timeout(limit_s):
                return await self._process.wait()
        return None

    async def pause_unless_ended(self, limit_s: float = 0.05) -> None:
        """Gives the part a moment to become ready.

        Raises:
            PartCrashedError: it ended instead.
        """
        if await self.wait(limit_s) is not None:
            raise self.crash()

    def require(self) -> None:
        """From now on the crew cannot go on without this part.

        Raises:
            PartCrashedError: it has ended already.
        """
        if self.exit_code is not None:
            raise self.crash()
        self.required = True

    async def stop(self) -> None:
        """Ends the part: its stop signal first, SIGKILL when the grace period is over."""
        self.required = False
        self._send(self.spec.stop_signal)
        if await self.wait(self.spec.grace_s) is None:
            await self.kill()

    async def kill(self) -> None:
        """Ends the part by SIGKILL."""
        self.required = False
        self._send(signal.SIGKILL)
        await self.wait()

    def crash(self) -> PartCrashedError:
        """The error that names this part, its exit code and its log."""
        return PartCrashedError(
            part=self.spec.name, exit_code=self.exit_code, log=str(self.spec.log)
        )

    def _send(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):  # it has ended already
            self._process.send_signal(number)


class Crew:
    """Starts parts, watches them, stops them; the guardian does so when we are killed.

    `on_change` is called whenever a part was started or has ended.
    """

    def __init__(self, guardian_log: Path, on_change: Callable[[], None] = lambda: None) -> None:
        self._guardian_log = guardian_log
        self._on_change = on_change
        self._parts: list[Part] = []
        self._watchers: set[asyncio.Task[None]] = set()
        self._guardian: Part | None = None
        self._pipe: int | None = None
        self._over: asyncio.Future[PartCrashedError | None] | None = None

    async def __aenter__(self) -> Self:
        """Starts the guardian, before there is anything to guard."""
        self._over = asyncio.get_running_loop().create_future()
        read_end, write_end = os.pipe()
        command = (sys.executable, "-P", "-m", "mnestic.starter.embedded.guardian")
        spec = PartSpec(name="guardian", command=command, log=self._guardian_log)
        try:
            self._guardian = await _spawn(spec, stdin=read_end)
        except BaseException:
            os.close(write_end)
            raise
        finally:
            os.close(read_end)
        self._pipe = write_end
        self._guardian.require()
        self._watch(self._guardian)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stops whatever runs."""
        await self.stop()

    @property
    def marks(self) -> tuple[ProcessMark, ...]:
        """The parts that run now."""
        return tuple(part.mark for part in self._parts if part.exit_code is None)

    async def start(self, spec: PartSpec) -> Part:
        """Starts a part.

        Raises:
            PartCrashedError: it could not be started, or the guardian is gone.
        """
        part = await _spawn(spec)
        self._parts.append(part)
        self._watch(part)
        self._tell_guardian(part.mark.to_line())
        self._on_change()
        return part

    async def wait(self) -> None:
        """Waits until the crew is stopped or a required part ends by itself.

        Raises:
            PartCrashedError: names the part that ended.
        """
        assert self._over is not None, "the crew was never entered"
        crash = await asyncio.shield(self._over)
        if crash is not None:
            raise crash

    async def stop(self) -> None:
        """Stops all parts, in their order, and lets the guardian go."""
        for part in sorted(self._parts, key=lambda part: part.spec.stop_order):
            await part.stop()
        guardian, self._guardian = self._guardian, None
        if guardian is not None and self._pipe is not None:
            guardian.required = False
            with contextlib.suppress(BrokenPipeError):  # it is gone, which is what we want
                os.write(self._pipe, f"{DONE}\n".encode())
            os.close(self._pipe)
            self._pipe = None
            await guardian.wait()
        await asyncio.gather(*self._watchers)
        if self._over is not None and not self._over.done():
            self._over.set_result(None)

    def _watch(self, part: Part) -> None:
        task = asyncio.create_task(self._report_end(part))
        self._watchers.add(task)
        task.add_done_callback(self._watchers.discard)

    async def _report_end(self, part: Part) -> None:
        await part.wait()
        if part in self._parts:
            self._parts.remove(part)
            self._on_change()
        if part.required and self._over is not None and not self._over.done():
            self._over.set_result(part.crash())

    def _tell_guardian(self, line: str) -> None:
        assert self._pipe is not None, "the crew was never entered"
        try:
            os.write(self._pipe, f"{line}\n".encode())
        except BrokenPipeError:
            assert self._guardian is not None
            raise self._guardian.crash() from None


async def _spawn(spec: PartSpec, stdin: int = asyncio.subprocess.DEVNULL) -> Part:
    user, group = spec.owner or (None, None)
    with _open_log(spec.log) as log:
        try:
            process = await asyncio.create_subprocess_exec(
                *spec.command,
                stdin=stdin,
                stdout=log,
                stderr=log,
                cwd=spec.cwd,
                env=spec.env,
                user=user,
                group=group,
                extra_groups=None if group is None else [],
                umask=0o077,  # what parts write is not for other accounts of the machine
                start_new_session=True,  # Ctrl-C is for the runtime, which stops its parts in order
            )
        except OSError as error:
            log.write(f"{spec.name} could not be started: {error}\n".encode())
            raise PartCrashedError(part=spec.name, exit_code=None, log=str(spec.log)) from error
    return Part(spec, process)


def _open_log(path: Path) -> BinaryIO:
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists() and path.stat().st_size > MAX_LOG_BYTES:
        path.replace(path.with_suffix(".old.log"))
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab")


def _mark(spec: PartSpec, pid: int) -> ProcessMark:
    try:
        created = psutil.Process(pid).create_time()
    except psutil.NoSuchProcess:  # it has ended already, which its exit code tells
        created = time.time()
    return ProcessMark(
        name=spec.name,
        pid=pid,
        create_time=created,
        stop_signal=int(spec.stop_signal),
        stop_order=spec.stop_order,
        grace_s=spec.grace_s,
    )
