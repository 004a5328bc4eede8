"""Entries of a timeline in words."""

from datetime import UTC, datetime
from typing import Any

import pytest

from mnestic.memory.jobs.timeline import TimelineEntry
from mnestic.starter.cli.jobs.lines import about, title

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("what", "detail", "line"),
    [
        ("continued", {"epoch": 2}, "new run: epoch 2"),
        (
            "step",
            {"kind": "tool", "node": "mail", "activity": "mail.send", "attempts": 3,
             "duration_s": 4.21, "state": "failed", "cause": "it is down"},
            "tool: mail · mail.send · failed · 3 attempts · 4.2 s · it is down",
        ),
        ("step", {"kind": "charge", "activity": "charge"}, "charge: charge"),
        (
            "step",
            {"kind": "think", "node": "t", "activity": "mnestic.think", "model": "m",
             "input_tokens": 40, "output_tokens": 3},
            "think: t · model m · 40 + 3 tokens",
        ),
        (
            "requested",
            {"name": "override", "reason": "I looked", "by": "Ana", "via": "update"},
            "override requested: update from Ana · reason: I looked",
        ),
        ("requested", {"name": "poke", "via": "signal", "identity": "1@vm"}, "poke requested: signal from 1@vm"),
        ("refused", {"name": "resume", "cause": "it is over"}, "resume refused: it is over"),
        ("timer_fired", {"key": "approval", "after_s": 1_814_400}, "timer fired: approval · after 21 days"),
        (
            "wait_extended",
            {"wait_id": "j1/w1", "deadline": "2026-04-01T08:00:00Z"},
            "wait extended: w1 until 2026-04-01 08:00",
        ),
        (
            "restored",
            {"wait_id": "j1/w1", "outcome": "approved", "verified": False, "sha256": "a" * 64,
             "drift_count": 3, "reason": "I\x1b\nlooked"},
            "restored: w1 approved · NOT verified sha256 aaaaaaaaaaaa… · drift 3 · override by somebody: I looked",
        ),
        ("needs_attention", {"wait_id": "j1/w1", "cause": "drifted"}, "needs attention: w1 · drifted"),
        ("cancel_requested", {"by": "ops", "reason": "enough"}, "cancel requested: by ops · reason: enough"),
        ("clock_moved", {"by_s": 90_061}, "clock moved: by 1 day, 1:01:01"),
        ("worker_lost", {}, "worker lost: "),
        ("stuck", {"cause": "not deterministic"}, "stuck: not deterministic"),
        ("ended", {"outcome": "timed_out"}, "job timed out: "),
        ("ended", {"outcome": "failed", "cause": "node a failed"}, "job failed: node a failed"),
    ],
)  # fmt: skip
def test_each_kind_of_entry_is_a_line(what: Any, detail: dict[str, Any], line: str) -> None:
    entry = TimelineEntry(at=NOON, what=what, detail=detail)

    assert f"{title(entry)}: {about(entry)}" == line
