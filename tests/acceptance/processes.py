"""Whole processes: started as a user starts them, watched, and ended by their own pid."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import psutil

from mnestic.starter.embedded.process_mark import ProcessMark
from mnestic.starter.embedded.state import RuntimeState, read_state
from tests.acceptance.forks import Fork

MNESTIC = str(Path(sys.executable).with_name("mnestic"))
START_LIMIT_S = 300.0
STOP_LIMIT_S = 120.0
OURS = ("MNESTIC_", "TEMPORAL_", "OPENAI_", "OTEL_")


def until(ready: Callable[[], Any], *, what: str, limit_s: float = START_LIMIT_S) -> Any:
    """Asks until the answer is true, and returns it."""
    deadline = time.monotonic() + limit_s
    while not (found := ready()):
        assert time.monotonic() < deadline, f"{what} did not come within {limit_s:.0f} s"
        time.sleep(0.05)
    return found


class Running:
    """A process whose output goes to files, so that no pipe can fill up and stop it."""

    def __init__(self, process: subprocess.Popen[bytes] | Fork, out: Path, err: Path) -> None:
        self.process, self._out, self._err = process, out, err

    @property
    def pid(self) -> int:
        assert self.process.pid is not None
        return self.process.pid

    @property
    def out(self) -> str:
        return self._out.read_text(encoding="utf-8")

    @property
    def err(self) -> str:
        return self._err.read_text(encoding="utf-8")

    @property
    def code(self) -> int:
        """The exit code, once it has ended."""
        assert self.process.returncode is not None
        return self.process.returncode

    @property
    def errors(self) -> list[str]:
        """What it printed as errors."""
        return [line for line in self.err.splitlines() if line.startswith("error:")]

    @property
    def document(self) -> Any:
        """Its standard output, which is one JSON document and nothing else."""
        return json.loads(self.out)

    def until(self, ready: Callable[[], Any], *, what: str) -> Any:
        """Waits for something while the process runs."""

        def ready_or_over() -> Any:
            assert self.process.poll() is None, f"ended with {self.code} before {what}: {self.err}"
            return ready()

        return until(ready_or_over, what=what)

    def until_over(self, limit_s: float = STOP_LIMIT_S) -> "Running":
        self.process.wait(limit_s)
        return self

    def stop(self, number: signal.Signals = signal.SIGTERM) -> "Running":
        self.process.send_signal(number)
        return self.until_over()


class Processes:
    """Starts processes in a bare environment and in a folder of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._started: list[Running] = []

    def environment(self, more: Mapping[str, str]) -> dict[str, str]:
        bare = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
        return {**bare, "COLUMNS": "200", **more}

    def start(
        self,
        *command: str | Path,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        typed: str = "",
    ) -> Running:
        """Starts a process; `typed` is its standard input, which ends after that."""
        number = len(self._started)
        out, err = self.folder / f"{number}.out", self.folder / f"{number}.err"
        given = self.folder / f"{number}.in"
        given.write_text(typed, encoding="utf-8")
        with given.open("rb") as from_in, out.open("wb") as to_out, err.open("wb") as to_err:
            process = subprocess.Popen(
                command,
                stdin=from_in,
                stdout=to_out,
                stderr=to_err,
                cwd=cwd or self.folder,
                env=self.environment(env or {}),
            )
        return self._watch(process, out, err)

    def fork(self, *command: str | Path, env: Mapping[str, str]) -> Running:
        """Starts a program of Python in a process that has imported the worker already."""
        number = len(self._started)
        out, err = self.folder / f"{number}.out", self.folder / f"{number}.err"
        out.touch()
        err.touch()
        process = Fork(*command, cwd=self.folder, env=self.environment(env), out=out, err=err)
        process.start()
        return self._watch(process, out, err)

    def _watch(self, process: subprocess.Popen[bytes] | Fork, out: Path, err: Path) -> Running:
        running = Running(process, out, err)
        self._started.append(running)
        return running

    def run(
        self,
        *command: str | Path,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        typed: str = "",
        limit_s: float = START_LIMIT_S,
    ) -> Running:
        return self.start(*command, env=env, cwd=cwd, typed=typed).until_over(limit_s)

    def end(self) -> None:
        for running in self._started:
            if running.process.poll() is None:
                running.process.kill()
                running.process.wait()


class Up:
    """A `mnestic up` that is ready, and commands that reach it."""

    def __init__(self, processes: Processes, running: Running, data: Path, program: str) -> None:
        self.processes, self.running, self.data = processes, running, data
        self._program = program
        state = read_state(data)
        assert state is not None, "up says that it is ready, and nothing was written down"
        self.state: RuntimeState = state
        self.family = tuple(psutil.Process(running.pid).children(recursive=True))

    @property
    def parts(self) -> dict[str, ProcessMark]:
        return {mark.name: mark for mark in self.state.parts}

    def command(self, *words: str) -> Running:
        return self.processes.run(self._program, "--data", str(self.data), *words)

    def asked(self, *words: str) -> Any:
        """The document that a command answers, which must succeed."""
        done = self.command(*words, "--json")
        assert done.code == 0, done.err
        return done.document

    def read_state(self) -> RuntimeState:
        """What the runtime has written down by now."""
        state = read_state(self.data)
        assert state is not None, "the runtime is no longer ready"
        return state

    def until_answered(self, *words: str) -> Any:
        """The document of a command once what it needs is back; until then its exit code is 3."""

        def answered() -> Any:
            done = self.command(*words, "--json")
            assert done.code in (0, 3), done.err
            return done.document if done.code == 0 else None

        return until(answered, what=f"an answer to {' '.join(words)}")

    def until_job(self, job_id: str, state: str) -> Any:
        """The job once it is in a state."""

        def in_state() -> Any:
            job = self.asked("job", "show", job_id)
            return job if job["state"] == state else None

        return until(in_state, what=f"job {job_id} in state {state}")

    def left(self) -> list[str]:
        """Processes of this runtime that still run once all had the time to end."""
        _, alive = psutil.wait_procs(self.family, timeout=STOP_LIMIT_S)
        return [process.name() for process in alive]
