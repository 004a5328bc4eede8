"""`mnestic up` as a user runs it: ready, used from other terminals, stopped, killed, started again."""

import signal
from pathlib import Path
from typing import Any

import psutil
import pytest

pytestmark = pytest.mark.acceptance

STARTED = ("--agent", "ada", "--session", "s1", "--input", "name=Mara")


def start_waiting(up: Any, plan: Path) -> str:
    """Starts a job through the command line; returns its id once it waits."""
    job_id: str = up.asked("job", "start", str(plan), *STARTED)["job_id"]
    up.until_job(job_id, "waiting")
    return job_id


def test_a_job_waits_is_resumed_and_is_still_there_after_the_next_start(
    start_up: Any, plan: Path, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    up = start_up(data)
    ready = up.running.document

    job_id = start_waiting(up, plan)
    waiting = up.asked("job", "list", "--waiting")
    doctor = up.asked("doctor")
    receipt = up.asked("job", "resume", job_id, "--payload", '{"word": "dear"}')
    result = up.asked("job", "result", job_id)
    stopped = up.running.stop()

    again = start_up(data)
    shown = again.asked("job", "show", job_id)
    record = again.asked("memory", "record", "get", "profile", "name", "--agent", "ada")

    assert ready["ready"] is True
    assert up.running.err.count("every account of this machine") == 1
    assert "set TEMPORAL_ADDRESS to a cluster of your own" in up.running.err
    assert ready["pid"] == up.running.pid
    assert [job["job_id"] for job in waiting["jobs"]] == [job_id]
    assert doctor["ok"], doctor
    assert receipt["wait_id"] == f"{job_id}/w1"
    assert result["results"]["approval"]["payload"] == {"word": "dear"}
    assert stopped.code == 0
    assert up.left() == []
    assert {"Postgres", "Temporal", "worker"} == set(up.parts)
    assert shown["state"] == "completed"
    assert record["value"] == "Mara"


def test_a_job_goes_on_after_the_runtime_was_killed_while_it_waited(
    start_up: Any, plan: Path, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    up = start_up(data)
    job_id = start_waiting(up, plan)

    up.running.stop(signal.SIGKILL)
    again = start_up(data)
    receipt = again.asked("job", "resume", job_id, "--payload", '{"word": "dear"}')
    done = again.until_job(job_id, "completed")

    assert up.left() == []
    assert receipt["wait_id"] == f"{job_id}/w1"
    assert [wait["state"] for wait in done["waits"]] == ["resumed"]


def test_a_second_runtime_on_the_same_data_is_told_who_has_it(
    start_up: Any, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    up = start_up(data, "--no-worker")

    second = up.command("up")

    assert second.code == 2
    assert len(second.errors) == 1
    assert f"pid {up.running.pid}" in second.errors[0]
    assert second.out == ""
    assert up.running.process.poll() is None
    assert up.asked("job", "list") == {"jobs": [], "cursor": None}


def test_a_worker_that_is_killed_is_reported_by_name_and_all_ends(
    start_up: Any, tmp_path: Path
) -> None:
    up = start_up(tmp_path / "data")
    worker = psutil.Process(up.parts["worker"].pid)

    worker.kill()
    up.running.until_over()

    assert up.running.code == 3
    assert len(up.running.errors) == 1
    assert "worker ended by itself with exit code -9" in up.running.errors[0]
    assert "Traceback" not in up.running.err
    assert up.left() == []


def test_a_stop_while_it_starts_leaves_nothing(
    processes: Any, mnestic: str, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    running = processes.start(mnestic, "up", "--data", data)
    running.until(lambda: psutil.Process(running.pid).children(), what="the first part")
    family = psutil.Process(running.pid).children(recursive=True)

    running.stop(signal.SIGINT)

    _, alive = psutil.wait_procs(family, timeout=120)
    assert alive == []
    assert "Traceback" not in running.err
    assert "ready" not in running.out
