"""Processes that have imported the worker when they begin: tests that kill many workers need not load each anew."""

import os
import runpy
import subprocess
import sys
from collections.abc import Mapping
from multiprocessing import get_context
from multiprocessing.context import ForkServerProcess
from pathlib import Path

get_context("forkserver").set_forkserver_preload(
    [
        *("mnestic.worker", "mnestic.starter.maintenance_wiring"),
        *("mnestic.stores.postgres.table_stores", "tokenizers", "safetensors.numpy"),
    ]
)


class Fork(ForkServerProcess):
    """Runs a program of Python, and is watched like a process of `subprocess`."""

    returncode = ForkServerProcess.exitcode

    def __init__(
        self, *command: str | Path, cwd: Path, env: Mapping[str, str], out: Path, err: Path
    ) -> None:
        super().__init__()
        self._command = tuple(map(str, command))
        self._cwd, self._env, self._out, self._err = cwd, dict(env), out, err

    def run(self) -> None:
        for number, path in ((1, self._out), (2, self._err)):
            os.dup2(os.open(path, os.O_WRONLY), number)
        os.chdir(self._cwd)
        os.environ.clear()
        os.environ.update(self._env)
        sys.argv = list(self._command)
        runpy.run_path(self._command[0], run_name="__main__")

    def poll(self) -> int | None:
        return self.exitcode

    def wait(self, timeout: float | None = None) -> int:
        self.join(timeout)
        if self.exitcode is None:
            raise subprocess.TimeoutExpired(self._command, timeout or 0)
        return self.exitcode

    def send_signal(self, number: int) -> None:
        assert self.pid is not None
        os.kill(self.pid, number)
