"""The main job on real input: a conversation, three weeks, a worker that is killed, and a count. The demo runs once."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from mnestic.starter.importers.conversations import bundled_conversation, read_conversation
from mnestic.starter.importers.turns import Conversation

pytestmark = pytest.mark.acceptance

KEYS = {
    *("job_id", "sessions", "turns", "waits", "resumes_sent", "resumes_applied", "snapshots"),
    *("restores_verified", "drift", "worker_kills", "days_waited", "writes_expected"),
    *("writes_present", "writes_duplicated", "temporal_ui", "elapsed_s"),
}


TEMPLATES = [
    {"role": "${memory.x}", "content": "I am $$${input.name}.", "session": "a"},
    {"role": "O'Brien/Søren 🦜", "content": "'; DROP TABLE episode; --", "session": "a"},
    {"role": "${memory.x}", "content": "[/red] {} %s \\ ${job.id}", "session": "b"},
]
"""Words that a template, a statement or a console would take for its own; they are only text."""


@pytest.fixture(scope="module")
def conversation_file(processes: Any, root: Path) -> Path:
    """The bundled conversation, after two sessions of words that try to be templates."""
    lines = [
        json.dumps(turn | {"timestamp": f"2024-03-0{day}T09:00:00Z"}) + "\n"
        for day, turn in enumerate(TEMPLATES, start=1)
    ]
    bundled = (root / "starter/samples/conversation.jsonl").read_text(encoding="utf-8")
    path: Path = processes.folder / "conversation.jsonl"
    path.write_text("".join(lines) + bundled, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def conversation(conversation_file: Path) -> Conversation:
    return read_conversation(conversation_file)


@pytest.fixture(scope="module")
def demo_output(processes: Any, mnestic: str, conversation_file: Path) -> Any:
    """The demo, which is over."""
    data = processes.folder / "data"
    return processes.run(
        mnestic, "demo", "--data", data, "--conversation", conversation_file, "--json"
    )


@pytest.fixture(scope="module")
def up(demo_output: Any, start_up: Any, processes: Any) -> Any:
    """`mnestic up` on the demo's data, after the demo has ended."""
    assert demo_output.code == 0, demo_output.err
    return start_up(processes.folder / "data")


def test_the_conversation_is_read_and_nothing_is_lost_or_doubled(
    demo_output: Any, conversation: Conversation
) -> None:
    sessions = len(conversation.sessions)
    turns = [turn for session in conversation.sessions for turn in session.turns]

    report = demo_output.document

    assert demo_output.code == 0, demo_output.err
    assert sessions == len(bundled_conversation().sessions) + 2 >= 10
    assert set(report) == KEYS
    assert (report["sessions"], report["turns"]) == (sessions, len(turns))
    assert report["waits"] == sessions - 1
    assert report["resumes_sent"] == report["waits"] + 2
    assert report["resumes_applied"] == report["waits"]
    assert report["restores_verified"] == report["waits"]
    assert report["worker_kills"] == 1
    assert report["days_waited"] == 21
    assert report["writes_expected"] == report["writes_present"] > len(turns)
    assert report["writes_duplicated"] == 0
    assert report["job_id"] in report["temporal_ui"]
    assert 0 < report["elapsed_s"] < 120


def test_each_wait_has_a_snapshot_of_its_own(demo_output: Any) -> None:
    snapshots = demo_output.document["snapshots"]

    hashes = [snapshot["sha256"] for snapshot in snapshots]
    assert len(snapshots) == demo_output.document["waits"]
    assert len(set(hashes)) == len(hashes)
    assert all(len(bytes.fromhex(each)) == hashlib.sha256().digest_size for each in hashes)
    assert all(snapshot["bytes"] > 0 for snapshot in snapshots)


def test_the_story_goes_to_standard_error(demo_output: Any) -> None:
    assert demo_output.errors == []
    for part in ("kill -9", "21 days pass", demo_output.document["temporal_ui"]):
        assert part in demo_output.err


def test_words_that_try_to_be_a_template_are_only_text(demo_output: Any, up: Any) -> None:
    report = demo_output.document

    agent = up.asked("job", "show", report["job_id"])["agent_id"]
    people = up.asked("memory", "record", "list", "--agent", agent, "--namespace", "people")

    assert ("people", "${memory.x}") in {
        (each["namespace"], each["key"]) for each in report["drift"]
    }
    assert {turn["role"] for turn in TEMPLATES} <= {record["key"] for record in people["records"]}


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
