"""A process is found again by its mark, and a stranger with its pid is left alone."""

import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import psutil
import pytest

from mnestic.starter.embedded.process_mark import ProcessMark

DEAF = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('deaf', flush=True); input()"


@pytest.fixture
def deaf() -> Iterator[subprocess.Popen[str]]:
    """A process that ignores SIGTERM."""
    command = [sys.executable, "-c", DEAF]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "deaf\n"
        yield process
        process.kill()


def mark(pid: int, created: float, *, grace_s: float = 0.2) -> ProcessMark:
    return ProcessMark("part", pid, created, signal.SIGTERM, 0, grace_s)


def test_a_mark_survives_its_line() -> None:
    written = mark(42, 1234.5)

    assert ProcessMark.from_line(written.to_line()) == written


@pytest.mark.parametrize("line", ["", "[]", "7", "[1, 2]"])
def test_a_line_that_is_no_mark_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match=r"not a process mark|Expecting value"):
        ProcessMark.from_line(line)


def test_what_ignores_its_stop_signal_is_killed_after_the_grace_period(
    deaf: subprocess.Popen[str],
) -> None:
    created = psutil.Process(deaf.pid).create_time()

    ended = mark(deaf.pid, created).end()

    assert ended
    assert mark(deaf.pid, created).find() is None


def test_a_stranger_that_got_the_pid_is_left_alone(deaf: subprocess.Popen[str]) -> None:
    stranger = mark(deaf.pid, time.time() - 3600)

    ended = stranger.end()

    assert not ended
    assert deaf.poll() is None
