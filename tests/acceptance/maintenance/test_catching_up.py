"""A Schedule whose time has passed while nothing ran is caught up once, within its window."""

import asyncio
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client

from mnestic.memory.names import maintenance_workflow_id
from tests.acceptance.processes import Up, until

pytestmark = pytest.mark.acceptance

TENANT = "default"
BEFORE = timedelta(seconds=90)  # to set the time and to stop everything


async def test_a_night_that_was_missed_is_made_up_for_once(start_up: Any, tmp_path: Path) -> None:
    up: Up = start_up(tmp_path / "data", "--no-api")
    up.asked("memory", "add", "The code is 4711.", "--agent", "ada")
    times = up.asked("maintenance", "policy", "get")["nightly"]["times"]
    fires_at = (datetime.now(UTC) + BEFORE).replace(second=0, microsecond=0) + timedelta(minutes=1)
    changed = {"hour": fires_at.hour, "minute": fires_at.minute, "jitter": "PT0S"}
    up.asked("maintenance", "policy", "set", "nightly.times", json.dumps({**times, **changed}))
    stopped = await asyncio.to_thread(up.running.stop)
    assert (stopped.code, datetime.now(UTC) < fires_at) == (0, True)
    await asyncio.sleep((fires_at - datetime.now(UTC)).total_seconds() + 1)

    again: Up = start_up(tmp_path / "data", "--no-api")
    (report,) = await asyncio.to_thread(
        until, lambda: read_reports(again), what="the report of the night"
    )

    client = await Client.connect(str(again.state.temporal_address))
    handle = client.get_schedule_handle(maintenance_workflow_id(TENANT, "nightly"))
    info = (await handle.describe()).info
    assert datetime.fromisoformat(report["scheduled_at"]) == fires_at
    assert datetime.fromisoformat(report["started_at"]) > fires_at
    assert (report["agents"], report["dry_run"]) == (1, False)
    assert (info.num_actions, info.num_actions_missed_catchup_window) == (1, 0)
    assert info.next_action_times[0] > fires_at


def read_reports(up: Up) -> Any:
    return up.asked("maintenance", "reports", "--kind", "nightly")["reports"]
