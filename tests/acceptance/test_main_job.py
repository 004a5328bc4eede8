"""The main job on real input: a conversation, three weeks, a worker that is killed, and a count."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from mnestic.starter.importers.conversations import bundled_conversation

pytestmark = pytest.mark.acceptance

KEYS = {
    *("job_id", "sessions", "turns", "waits", "resumes_sent", "resumes_applied", "snapshots"),
    *("restores_verified", "drift", "worker_kills", "days_waited", "writes_expected"),
    *("writes_present", "writes_duplicated", "temporal_ui", "elapsed_s"),
}


def assert_sound(report: dict[str, Any], *, sessions: int, turns: int, speaker: str) -> None:
    assert set(report) == KEYS
    assert (report["sessions"], report["turns"]) == (sessions, turns)
    assert report["waits"] == sessions - 1
    assert report["resumes_sent"] == report["waits"] + 2
    assert report["resumes_applied"] == report["waits"]
    assert report["restores_verified"] == report["waits"]
    assert len(report["snapshots"]) == report["waits"]
    assert report["worker_kills"] == 1
    assert report["days_waited"] == 21
    assert ("people", speaker) in {(each["namespace"], each["key"]) for each in report["drift"]}
    assert report["writes_expected"] == report["writes_present"] > turns
    assert report["writes_duplicated"] == 0
    assert report["job_id"] in report["temporal_ui"]
    assert 0 < report["elapsed_s"] < 120


@pytest.fixture(scope="module")
def demo_output(processes: Any, mnestic: str) -> Any:
    """The demo on the bundled conversation, which is over."""
    return processes.run(mnestic, "demo", "--data", processes.folder / "data", "--json")


@pytest.fixture(scope="module")
def up(demo_output: Any, start_up: Any, processes: Any) -> Any:
    """`mnestic up` on the demo's data, after the demo has ended."""
    assert demo_output.code == 0, demo_output.err
    return start_up(processes.folder / "data")


def test_the_bundled_conversation_is_read_and_nothing_is_lost_or_doubled(demo_output: Any) -> None:
    conversation = bundled_conversation()
    turns = [turn for session in conversation.sessions for turn in session.turns]

    report = demo_output.document

    assert demo_output.code == 0, demo_output.err
    assert len(conversation.sessions) >= 8
    assert_sound(
        report,
        sessions=len(conversation.sessions),
        turns=len(turns),
        speaker=turns[0].speaker,
    )
    hashes = [snapshot["sha256"] for snapshot in report["snapshots"]]
    assert len(set(hashes)) == len(hashes)
    assert all(len(bytes.fromhex(each)) == hashlib.sha256().digest_size for each in hashes)
    assert all(snapshot["bytes"] > 0 for snapshot in report["snapshots"])
    assert demo_output.errors == []
    for part in ("kill -9", "21 days pass", report["temporal_ui"]):
        assert part in demo_output.err


def test_the_job_and_its_memory_outlive_the_runtime_that_ran_it(demo_output: Any, up: Any) -> None:
    report = demo_output.document
    changed = report["drift"][0]

    job = up.asked("job", "show", report["job_id"])
    listed = up.asked(
        "memory", "record", "list", "--agent", job["agent_id"], "--namespace", "people"
    )
    doctor = up.asked("doctor")

    assert job["state"] == "completed"
    assert [wait["state"] for wait in job["waits"]] == ["resumed"] * report["waits"]
    assert {wait["receipt"]["snapshot_sha256"] for wait in job["waits"]} == {
        snapshot["sha256"] for snapshot in report["snapshots"]
    }
    versions = {record["key"]: record["version"] for record in listed["records"]}
    assert versions[changed["key"]] >= changed["current_version"]
    assert changed["current_version"] == changed["snapshot_version"] + 1
    assert doctor["ok"], doctor
    assert "1 poll" in next(c["found"] for c in doctor["checks"] if c["part"] == "workers")


def test_a_short_conversation_needs_no_kill_and_one_that_tries_to_be_a_template_is_only_text(
    up: Any, tmp_path: Path
) -> None:
    short, odd = tmp_path / "short.jsonl", tmp_path / "odd.jsonl"
    turns = [
        {"role": "${memory.x}", "content": "I am $$${input.name}.", "session": "a"},
        {"role": "O'Brien/Søren 🦜", "content": "'; DROP TABLE episode; --", "session": "a"},
        {"role": "${memory.x}", "content": "[/red] {} %s \\ ${job.id}", "session": "b"},
    ]
    lines = [
        json.dumps(turn | {"timestamp": f"2025-03-0{day}T09:00:00Z"}) + "\n"
        for day, turn in enumerate(turns, start=1)
    ]
    short.write_text(lines[0], encoding="utf-8")
    odd.write_text("".join(lines), encoding="utf-8")

    one_session = up.command("demo", "--conversation", str(short))
    done = up.command("demo", "--conversation", str(odd), "--json")

    assert one_session.code == done.code == 0, (one_session.err, done.err)
    assert "Nothing lost, nothing duplicated." in one_session.out
    assert "kill -9" not in one_session.out + one_session.err
    assert_sound(done.document, sessions=2, turns=3, speaker="${memory.x}")
