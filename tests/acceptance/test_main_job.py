"""The main job on real input: a conversation, three weeks, a worker that is killed, and a count."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from mnestic.starter.importers.conversations import bundled_conversation

pytestmark = pytest.mark.acceptance

KEYS = {
    "job_id",
    "sessions",
    "turns",
    "waits",
    "resumes_sent",
    "resumes_applied",
    "snapshots",
    "restores_verified",
    "drift",
    "worker_kills",
    "days_waited",
    "writes_expected",
    "writes_present",
    "writes_duplicated",
    "temporal_ui",
    "elapsed_s",
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
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("demo") / "data"


@pytest.fixture(scope="module")
def told(processes: Any, mnestic: str, data: Path) -> Any:
    """The demo on the bundled conversation, which is over."""
    return processes.run(mnestic, "demo", "--data", data, "--json")


@pytest.fixture(scope="module")
def up(told: Any, start_up: Any, data: Path) -> Any:
    """`mnestic up` on the demo's data, after the demo has ended."""
    assert told.code == 0, told.err
    return start_up(data)


def test_the_bundled_conversation_is_read_and_nothing_is_lost_or_doubled(told: Any) -> None:
    conversation = bundled_conversation()
    turns = [turn for session in conversation.sessions for turn in session.turns]

    report = told.document

    assert told.code == 0, told.err
    assert len(conversation.sessions) >= 8
    assert_sound(
        report,
        sessions=len(conversation.sessions),
        turns=len(turns),
        speaker=turns[0].speaker,
    )


def test_each_snapshot_is_told_by_its_hash_and_its_size(told: Any) -> None:
    snapshots = told.document["snapshots"]

    hashes = [snapshot["sha256"] for snapshot in snapshots]

    assert len(set(hashes)) == len(hashes)
    assert all(len(bytes.fromhex(each)) == hashlib.sha256().digest_size for each in hashes)
    assert all(snapshot["bytes"] > 0 for snapshot in snapshots)


def test_the_story_is_told_beside_the_document(told: Any) -> None:
    story = told.err

    report = told.document

    assert "kill -9" in story
    assert "21 days pass" in story
    assert report["temporal_ui"] in story
    assert told.errors == []


def test_the_job_outlives_the_runtime_that_ran_it(told: Any, up: Any) -> None:
    job_id = told.document["job_id"]

    job = up.asked("job", "show", job_id)

    assert job["state"] == "completed"
    assert [wait["state"] for wait in job["waits"]] == ["resumed"] * told.document["waits"]
    assert {wait["receipt"]["snapshot_sha256"] for wait in job["waits"]} == {
        snapshot["sha256"] for snapshot in told.document["snapshots"]
    }


def test_the_drift_is_in_the_memory_that_the_job_left(told: Any, up: Any) -> None:
    job = up.asked("job", "show", told.document["job_id"])
    changed = told.document["drift"][0]

    records = up.asked(
        "memory", "record", "list", "--agent", job["agent_id"], "--namespace", "people"
    )

    versions = {record["key"]: record["version"] for record in records["records"]}
    assert versions[changed["key"]] >= changed["current_version"]
    assert changed["current_version"] == changed["snapshot_version"] + 1


def test_one_session_alone_needs_no_wait_and_no_kill(up: Any, tmp_path: Path) -> None:
    path = tmp_path / "short.json"
    turns = [{"speaker": "Nadia", "dia_id": "D1:1", "text": "I have bought tulips."}]
    session = {"session_1_date_time": "1:15 pm on 1 May, 2023", "session_1": turns}
    path.write_text(json.dumps({"conversation": session}), encoding="utf-8")

    done = up.command("demo", "--conversation", str(path))

    assert done.code == 0, done.err
    assert "Nothing lost, nothing duplicated." in done.out
    assert "kill -9" not in done.out + done.err


def test_the_demo_leaves_nothing_running_beside_the_runtime(up: Any) -> None:
    doctor = up.asked("doctor")

    assert doctor["ok"], doctor
    assert "1 poll" in next(c["found"] for c in doctor["checks"] if c["part"] == "workers")


def test_a_conversation_that_tries_to_be_a_template_is_only_text(up: Any, tmp_path: Path) -> None:
    path = tmp_path / "odd.jsonl"
    turns = [
        {"role": "${memory.x}", "content": "I am $$${input.name}.", "session": "a"},
        {"role": "O'Brien/Søren 🦜", "content": "'; DROP TABLE episode; --", "session": "a"},
        {"role": "${memory.x}", "content": "[/red] {} %s \\ ${job.id}", "session": "b"},
    ]
    lines = [
        turn | {"timestamp": f"2025-03-0{day}T09:00:00Z"} for day, turn in enumerate(turns, start=1)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")

    done = up.command("demo", "--conversation", str(path), "--json")

    assert done.code == 0, done.err
    assert_sound(done.document, sessions=2, turns=3, speaker="${memory.x}")
