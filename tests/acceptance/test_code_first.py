"""The example of a workflow of one's own, run as its docstring says."""

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client
from temporalio.worker import Replayer

from mnestic.workflows.plugin import MnesticPlugin

pytestmark = pytest.mark.acceptance

JOB = "refund-o-17"


@pytest.fixture(scope="module")
def example(root: Path) -> Path:
    return root / "examples" / "refund.py"


async def test_a_refund_waits_goes_on_in_a_new_run_and_keeps_what_was_decided(
    start_up: Any, processes: Any, example: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    up = start_up(tmp_path / "data", "--no-worker")
    env = {"MNESTIC_DATA_DIR": str(up.data)}
    worker = processes.start(sys.executable, example, env=env)
    asking = processes.start(sys.executable, example, "o-17", "Mara", "120", env=env)

    waiting = asking.until(
        lambda: _state(up) == "waiting" and up.asked("job", "list", "--waiting"), what="the wait"
    )
    up.asked("job", "poke", JOB)
    refused = up.command("job", "resume", JOB, "--outcome", "decided", "--payload", "{}")
    receipt = up.asked(
        "job", "resume", JOB, "--outcome", "decided",
        "--payload", '{"approved": true, "amount": 80, "by": "Ana"}',
    )  # fmt: skip
    asking.until_over()
    record = up.asked("memory", "record", "get", "refunds", "o-17", "--agent", "refunds")

    assert [job["job_id"] for job in waiting["jobs"]] == [JOB]
    assert refused.code == 2
    assert "payload" in refused.errors[0]
    assert receipt["wait_id"] == f"{JOB}/w1"
    assert asking.out == "Ana decided on 80 EUR\n"
    assert record["value"] == {"decision": "Ana decided on 80 EUR"}
    assert await _runs_that_replay(up.state.temporal_address, example, monkeypatch) == 2
    worker.stop()


def _state(up: Any) -> str | None:
    shown = up.command("job", "show", JOB, "--json")
    return shown.document["state"] if shown.code == 0 else None


async def _runs_that_replay(address: str, example: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many runs the job took; each replays with the plugin alone."""
    monkeypatch.syspath_prepend(str(example.parent))
    refund = importlib.import_module(example.stem)
    client = await Client.connect(address, plugins=[MnesticPlugin()])
    replayer = Replayer(workflows=[refund.Refund], plugins=[MnesticPlugin()])
    runs = 0
    async for execution in client.list_workflows(f"WorkflowId = 'job/default/{JOB}'"):
        handle = client.get_workflow_handle(execution.id, run_id=execution.run_id)
        await replayer.replay_workflow(await handle.fetch_history())
        runs += 1
    return runs
