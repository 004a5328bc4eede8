"""Recorded histories replay: a change of the workflows does not strand jobs that are under way.

A history is added, never changed; its name tells the version that recorded it.
"""

from pathlib import Path

import pytest
from temporalio.client import WorkflowHistory
from temporalio.worker import Replayer

from mnestic.workflows.plugin import MnesticPlugin

FOLDER = Path(__file__).parents[1] / "histories"
HISTORIES = {path.stem: path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.json"))}


@pytest.mark.parametrize("name", HISTORIES)
async def test_a_recorded_job_replays(name: str) -> None:
    history = WorkflowHistory.from_json(name, HISTORIES[name])

    await Replayer(workflows=[], plugins=[MnesticPlugin()]).replay_workflow(history)


def test_every_way_a_wait_ends_is_recorded_and_what_learns_forgets_and_maintains() -> None:
    kinds = {name.partition("-")[2] for name in HISTORIES}

    assert kinds >= {"update", "signal", "timeout", "cancelled", "needs-attention", "continued"}
    assert kinds >= {
        "poked",
        "continued-parked",
        "fork",
        "override",
        "pinned",
        "extended",
        "paused",
    }
    assert kinds >= {"kept", "late", "sealed-tail", "kept-calls"}
    assert kinds >= {"contract-continued"}
    assert kinds >= {"learning", "ingest", "inbox-continued", "inbox-cancelled"}
    assert kinds >= {"flush", "forget", "forget-cancelled", "forget-statistics", "forget-pass"}
    assert kinds >= {"maintenance-scheduled", "maintenance-monthly", "maintenance-backup"}
