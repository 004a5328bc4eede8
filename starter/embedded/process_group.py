"""The child processes of one runtime, recorded while they run and stopped in order.

Every part, whatever it is, has to be started, recorded with the guardian, reported by name when it ends by itself, and
ended by its own pid.
"""

import asyncio
import contextlib
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Self

import psutil

from mnestic.memory.errors import ProcessCrashedError
from mnestic.starter.embedded.guardian import DONE
from mnestic.starter.embedded.process_mark import ProcessMark

MAX_LOG_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True, kw_only=True)
class ProcessSpec:
    """How to start and stop a process.

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


class ManagedProcess:
    """A running child process; it `is_stopping` once it is ended on purpose."""

    def __init__(self, spec: ProcessSpec, process: asyncio.subprocess.Process) -> None:
        self.spec = spec
        self.mark = _mark(spec, process.pid)
        self.is_stopping = False
        self._process = process

    @property
    def exit_code(self) -> int | None:
        """The exit code, None while the process runs."""
        return self._process.returncode

    async def wait(self, limit_s: float | None = None) -> int | None:
        """Waits for the end, for `limit_s` seconds at most; returns the exit code or None."""
        with contextlib.suppress(TimeoutError):  # None means that it still runs
            async with asyncio.timeout(limit_s):
                return await self._process.wait()
        return None

    async def pause_unless_ended(self, limit_s: float = 0.05) -> None:
        """Waits a short time for the part to become ready.

        Raises:
            ProcessCrashedError: it ended instead.
        """
        if await self.wait(limit_s) is not None:
            raise self.crash()

    async def stop(self) -> None:
        """Ends the part: its stop signal first, SIGKILL when the grace period is over."""
        self.is_stopping = True
        self._send(self.spec.stop_signal)
        if await self.wait(self.spec.grace_s) is None:
            await self.kill()

    async def kill(self) -> None:
        """Ends the part by SIGKILL."""
        self.is_stopping = True
        self._send(signal.SIGKILL)
        await self.wait()

    def crash(self) -> ProcessCrashedError:
        """The error that names this part, its exit code and its log."""
        return _crash(self.spec, self.exit_code)

    def _send(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):  # it has ended already
            self._process.send_signal(number)


class ProcessGroup:
    """Starts parts and stops them; the guardian does so when we are killed.

    `on_change` is called whenever a part was started or has ended.
    """

    def __init__(self, guardian_log: Path, on_change: Callable[[], None] = lambda: None) -> None:
        self._guardian_log = guardian_log
        self._on_change = on_change
        self._parts: list[ManagedProcess] = []
        self._watchers: set[asyncio.Task[None]] = set()
        self._guardian: ManagedProcess | None = None
        self._pipe: int | None = None

    async def __aenter__(self) -> Self:
        """Starts the guardian, before there is anything to guard."""
        await self.start_guardian()
        return self

    async def __aexit__(self, *failure: object) -> None:
        """Stops whatever runs."""
        await self.stop()

    @property
    def marks(self) -> tuple[ProcessMark, ...]:
        """The parts that run now."""
        return tuple(part.mark for part in self._parts if part.exit_code is None)

    @property
    def guardian(self) -> ManagedProcess:
        """The process that stops all parts when we are killed."""
        assert self._guardian is not None, "the process group was never entered"
        return self._guardian

    async def start_guardian(self) -> ManagedProcess:
        """Starts a guardian of the parts that run and of those that will.

        Raises:
            ProcessCrashedError: it could not be started.
        """
        self._close_pipe()
        read_end, self._pipe = os.pipe()
        for mark in self.marks:
            self._write_to_guardian(mark.to_line())
        command = (sys.executable, "-P", "-m", "mnestic.starter.embedded.guardian")
        spec = ProcessSpec(name="guardian", command=command, log=self._guardian_log)
        try:
            self._guardian = await _spawn(spec, stdin=read_end)
        except BaseException:
            self._close_pipe()
            raise
        finally:
            os.close(read_end)
        return self._guardian

    async def start(self, spec: ProcessSpec) -> ManagedProcess:
        """Starts a part.

        Raises:
            ProcessCrashedError: it could not be started.
        """
        part = await _spawn(spec)
        self._parts.append(part)
        task = asyncio.create_task(self._record_end(part))
        self._watchers.add(task)
        task.add_done_callback(self._watchers.discard)
        self._write_to_guardian(part.mark.to_line())
        self._on_change()
        return part

    @asynccontextmanager
    async def starting(self, spec: ProcessSpec) -> AsyncIterator[ManagedProcess]:
        """A part that becomes ready within the block, and is stopped when an error ends the block.

        Raises:
            ProcessCrashedError: it could not be started.
        """
        part = await self.start(spec)
        try:
            yield part
        except BaseException:
            await part.stop()
            raise

    async def stop(self) -> None:
        """Stops all parts, in their order, and lets the guardian go."""
        for part in sorted(self._parts, key=lambda part: part.spec.stop_order):
            await part.stop()
        guardian, self._guardian = self._guardian, None
        if guardian is not None:
            guardian.is_stopping = True
            self._write_to_guardian(DONE)
            self._close_pipe()
            await guardian.wait()
        await asyncio.gather(*self._watchers)

    async def _record_end(self, part: ManagedProcess) -> None:
        await part.wait()
        self._parts.remove(part)
        self._on_change()

    def _write_to_guardian(self, line: str) -> None:
        if self._pipe is None:  # the next guardian gets all running processes
            return
        with contextlib.suppress(BrokenPipeError):  # likewise
            os.write(self._pipe, f"{line}\n".encode())

    def _close_pipe(self) -> None:
        if self._pipe is not None:
            os.close(self._pipe)
            self._pipe = None


async def _spawn(spec: ProcessSpec, stdin: int = asyncio.subprocess.DEVNULL) -> ManagedProcess:
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
            raise _crash(spec, None) from error
    return ManagedProcess(spec, process)


def _crash(spec: ProcessSpec, exit_code: int | None) -> ProcessCrashedError:
    why = f"ended by itself with exit code {exit_code}; its log is {spec.log}"
    return ProcessCrashedError(part=spec.name, why=why)


def _open_log(path: Path) -> BinaryIO:
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists() and path.stat().st_size > MAX_LOG_BYTES:
        path.replace(path.with_suffix(".old.log"))
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab")


def _mark(spec: ProcessSpec, pid: int) -> ProcessMark:
    try:
        created = psutil.Process(pid).create_time()
    except psutil.NoSuchProcess:  # it has ended already, as its exit code shows
        created = time.time()
    return ProcessMark(
        name=spec.name,
        pid=pid,
        create_time=created,
        stop_signal=int(spec.stop_signal),
        stop_order=spec.stop_order,
        grace_s=spec.grace_s,
    )
