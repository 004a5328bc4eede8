"""Ctrl-C: a command ends at once, without a traceback, and says what becomes of what it began."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from mnestic.starter.client import ingest_status as learning_status
from tests.starter.cli.conftest import Cli

LINES = '{"role": "Mara", "content": "I moved to Ghent.", "timestamp": "2026-03-01T12:00:00Z"}\n'


def test_a_command_that_is_still_loading_ends_without_a_word(tmp_path: Path) -> None:
    # What the command line loads is held up until somebody has interrupted it. It is so in short pieces, since
    # a signal that comes just before one does not end it.
    (tmp_path / "typer.py").write_text(
        "import time\nprint('loading', flush=True)\nfor _ in range(600):\n    time.sleep(0.1)\n"
    )
    code = "from mnestic.starter.cli.program import main; main()"
    with subprocess.Popen(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "loading\n"
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)

    assert (process.returncode, err) == (130, "")


@pytest.fixture
def _interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Presses Ctrl-C once a command waits for a workflow, which no worker takes."""
    wait = learning_status.wait_for_end

    async def interrupted(*args: Any, **fields: Any) -> object:
        os.kill(os.getpid(), signal.SIGINT)
        return await wait(*args, **fields)

    assert threading.current_thread() is threading.main_thread()
    monkeypatch.setattr(learning_status, "wait_for_end", interrupted)


@pytest.mark.usefixtures("_interrupted")
def test_an_ingest_says_how_to_go_on(wired: Cli, tmp_path: Path) -> None:
    (tmp_path / "chat.jsonl").write_text(LINES)

    done = wired("memory", "ingest", "chat.jsonl", "--agent", "ada")

    assert done.code == 130
    assert "the same command continues where it stopped" in done.err
    assert "Traceback" not in done.err


@pytest.mark.usefixtures("_interrupted")
def test_a_forgetting_says_that_it_goes_on(wired: Cli) -> None:
    done = wired("memory", "forget", "Ghent", "--agent", "ada", "--yes")

    assert done.code == 130
    assert "forgotten all the same" in done.err
