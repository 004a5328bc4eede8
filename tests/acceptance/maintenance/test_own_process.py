"""`mnestic up` does maintenance in a process of its own, which runs after those of jobs and is started again when it ends."""

from pathlib import Path
from typing import Any

import psutil
import pytest
from temporalio.client import Client

from mnestic.memory.names import maintenance_queue
from mnestic.starter.rpc import find_pollers
from tests.acceptance.processes import Up
from tests.priorities import niceness_of_session

pytestmark = pytest.mark.acceptance

QUEUE = "mnestic"
WORKERS = ("worker", "maintenance worker")


async def test_maintenance_has_a_process_of_its_own_that_comes_back(
    start_up: Any, tmp_path: Path
) -> None:
    up: Up = start_up(tmp_path / "data")
    jobs, maintenance = (psutil.Process(up.parts[name].pid) for name in WORKERS)
    polls = {queue: await read_pollers(up, queue) for queue in (QUEUE, maintenance_queue(QUEUE))}
    niceness = (jobs.nice(), maintenance.nice())
    shares = [niceness_of_session(one.pid) for one in (jobs, maintenance)]
    up.asked("memory", "add", "The code is 4711.", "--agent", "ada")

    maintenance.kill()
    report = up.asked("maintenance", "run", "nightly")

    assert polls == {QUEUE: {jobs.pid}, maintenance_queue(QUEUE): {maintenance.pid}}
    assert niceness[1] == niceness[0] + 5
    assert shares in ([None, None], [0, niceness[1]])
    assert (report["kind"], report["agents"], report["problems"]) == ("nightly", 1, [])
    assert jobs.is_running()
    assert up.read_state().parts != up.state.parts


async def read_pollers(up: Up, queue: str) -> set[int]:
    """The processes that take workflows and activities of a task queue, whose identities begin with `pid@`."""
    client = await Client.connect(str(up.state.temporal_address))
    return {int(one.partition("@")[0]) for one in await find_pollers(client, queue)}
