"""`mnestic up` as a user runs it: ready, used from other terminals, stopped, killed, started again."""

import json
import signal
import stat
import time
import urllib.request
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


def test_a_job_is_still_there_after_a_stop_and_a_kill(
    start_up: Any, plan: Path, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    up = start_up(data)
    ready = up.running.document
    key_file = Path(ready["api_key_file"])
    key = key_file.read_text().strip()

    first, second = start_waiting(up, plan), start_waiting(up, plan)
    waiting = up.asked("job", "list", "--waiting")
    doctor = up.asked("doctor")
    refused = up.command("up")
    receipt = up.asked("job", "resume", first, "--payload", '{"word": "dear"}')
    result = up.asked("job", "result", first)
    stopped = up.running.stop()

    again = start_up(data)
    shown = again.asked("job", "show", first)
    record = again.asked("memory", "record", "get", "profile", "name", "--agent", "ada")
    agents = get_json(f"{again.running.document['api']}/api/agents", key=key)
    with urllib.request.urlopen(again.running.document["page"], timeout=30) as page:
        sign_in = page.read().decode()
    again.running.stop(signal.SIGKILL)

    third = start_up(data)
    resumed = third.asked("job", "resume", second, "--payload", '{"word": "dear"}')
    done = third.until_job(second, "completed")

    assert (ready["ready"], ready["pid"]) == (True, up.running.pid)
    assert up.running.err.count("every account of this machine") == 1
    assert "set TEMPORAL_ADDRESS to a cluster of your own" in up.running.err
    assert {job["job_id"] for job in waiting["jobs"]} == {first, second}
    assert doctor["ok"], doctor
    assert (refused.code, refused.out, len(refused.errors)) == (2, "", 1)
    assert f"pid {up.running.pid}" in refused.errors[0]
    assert (receipt["wait_id"], resumed["wait_id"]) == (f"{first}/w1", f"{second}/w1")
    assert result["results"]["approval"]["payload"] == {"word": "dear"}
    assert stopped.code == 0
    assert set(up.parts) == {*("Postgres", "Temporal", "worker", "maintenance worker", "HTTP API")}
    assert (shown["state"], record["value"]) == ("completed", "Mara")
    assert [each["agent_id"] for each in agents["items"]] == ["ada"]
    assert "<h1>Sign in</h1>" in sign_in
    assert (stat.S_IMODE(key_file.stat().st_mode), key_file.read_text().strip()) == (0o600, key)
    assert [wait["state"] for wait in done["waits"]] == ["resumed"]
    assert up.left() == again.left() == []


def kill(up: Any, name: str) -> int:
    """Ends a part by SIGKILL; returns its pid."""
    pid = next(mark.pid for mark in up.read_state().parts if mark.name == name)
    psutil.Process(pid).kill()
    return int(pid)


def until_back(up: Any, name: str, pid: int) -> None:
    """Waits until another process of that name is written down."""

    def is_back() -> bool:
        return any(mark.name == name and mark.pid != pid for mark in up.read_state().parts)

    up.running.until(is_back, what=f"another {name}")


def test_parts_that_are_killed_come_back_and_a_job_goes_on(
    start_up: Any, plan: Path, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    up = start_up(data)
    before = up.read_state()
    api = up.running.document["api"]
    key = Path(up.running.document["api_key_file"]).read_text().strip()
    job_id = start_waiting(up, plan)
    version = data / "postgres" / "PG_VERSION"
    ours = version.read_text(encoding="ascii")

    for name in ("worker", "Temporal", "Postgres"):
        until_back(up, name, kill(up, name))
        up.until_answered("job", "show", job_id)
    kill(up, "HTTP API")
    up.running.until(lambda: "HTTP API runs again" in up.running.err, what="the API is back")
    agents = get_json(f"{api}/api/agents", key=key)
    version.write_text("16\n", encoding="ascii")  # so that it cannot be started
    killed = kill(up, "Postgres")
    down = up.command("memory", "record", "list", "--agent", "ada")
    version.write_text(ours, encoding="ascii")
    until_back(up, "Postgres", killed)
    receipt = up.until_answered("job", "resume", job_id, "--payload", '{"word": "dear"}')
    done = up.until_job(job_id, "completed")
    record = up.asked("memory", "record", "get", "profile", "name", "--agent", "ada")
    after = up.read_state()
    family = psutil.Process(up.running.pid).children(recursive=True)
    stopped = up.running.stop(signal.SIGINT)

    assert (down.code, len(down.errors)) == (3, 1)  # told to come back
    assert "Postgres at " in down.errors[0]
    assert [each["agent_id"] for each in agents["items"]] == ["ada"]
    assert receipt["wait_id"] == f"{job_id}/w1"
    assert [wait["state"] for wait in done["waits"]] == ["resumed"]
    assert record["value"] == "Mara"
    assert after == before.model_copy(update={"parts": after.parts})
    assert {mark.pid for mark in after.parts} <= {process.pid for process in family}
    assert stopped.code == 0
    assert "worker ended by itself with exit code -9" in stopped.err
    assert psutil.wait_procs(family, timeout=10)[1] == []


@pytest.fixture
def broken_worker(tmp_path: Path) -> tuple[dict[str, str], Path]:
    """The environment of an `up` whose workers end at once when a file is there, and that file."""
    flag, folder = tmp_path / "broken", tmp_path / "site"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(
        "import os, sys\n"
        f"if 'mnestic.worker' in sys.orig_argv and os.path.exists({str(flag)!r}):\n"
        "    os._exit(7)\n",
        encoding="utf-8",
    )
    return {"PYTHONPATH": str(folder)}, flag


def test_a_worker_that_ends_each_time_is_given_up_by_name_and_the_others_go_on(
    start_up: Any,
    tmp_path: Path,
    broken_worker: tuple[dict[str, str], Path],
    mnestic: str,
    processes: Any,
) -> None:
    env, flag = broken_worker
    up = start_up(tmp_path / "data", env=env)
    pid = next(mark.pid for mark in up.read_state().parts if mark.name == "maintenance worker")

    def others() -> set[int]:
        return {mark.pid for mark in up.read_state().parts} - {pid}

    before = others()
    flag.touch()
    psutil.Process(pid).kill()
    up.running.until(lambda: "The other parts go on" in up.running.err, what="given up")

    doctor = processes.run(mnestic, "doctor", env={"MNESTIC_DATA_DIR": str(up.data)})
    assert "maintenance worker ended or did not start 7 times within 10 minutes" in doctor.out
    assert doctor.code == 1
    assert others() == before
    assert len(before) >= 4
    up.running.stop(signal.SIGINT)
    assert up.running.code == 3
    assert up.left() == []


def test_ctrl_c_without_the_api_does_not_wait_for_a_worker_to_come_back(
    start_up: Any, tmp_path: Path, broken_worker: tuple[dict[str, str], Path]
) -> None:
    env, flag = broken_worker
    up = start_up(tmp_path / "data", "--no-api", env=env)
    document = up.running.document

    flag.touch()
    kill(up, "worker")
    up.running.until(lambda: "starting it again in 8 s" in up.running.err, what="a long pause")
    began = time.monotonic()
    up.running.stop(signal.SIGINT)

    assert time.monotonic() - began < 7
    assert [document[name] for name in ("api", "page", "api_key_file")] == [None, None, None]
    assert set(up.parts) == {"Postgres", "Temporal", "worker", "maintenance worker"}
    assert up.running.code == 0
    assert up.left() == []


def test_it_says_where_its_data_is_and_how_to_stop_it(
    processes: Any, mnestic: str, tmp_path: Path
) -> None:
    data = tmp_path / "data"

    running = processes.start(mnestic, "up", "--no-worker", "--data", data)
    running.until(lambda: "ready" in running.out, what="ready")
    running.stop(signal.SIGINT)

    assert f"\nData         {data.resolve()}\n" in running.out
    assert running.out.endswith("\nready; press Ctrl-C to stop\n")
    assert running.code == 0


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
    assert running.code == 130
    assert "Stopped before it was ready; nothing is left running." in running.err
    assert "Traceback" not in running.err
    assert "ready" not in running.out


def test_two_runtimes_serve_at_ports_of_their_own(start_up: Any, tmp_path: Path) -> None:
    first = start_up(tmp_path / "first", "--no-worker")
    second = start_up(tmp_path / "second", "--no-worker")
    keys = [Path(up.running.document["api_key_file"]).read_text().strip() for up in (first, second)]

    answers = [
        get_json(f"{up.running.document['api']}/api/agents", key=key)
        for up, key in zip((first, second), keys, strict=True)
    ]

    assert first.running.document["api"] != second.running.document["api"]
    assert answers == [{"items": [], "next_cursor": None}] * 2


def get_json(url: str, *, key: str) -> Any:
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {key}"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)
