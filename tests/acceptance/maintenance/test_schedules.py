"""A Schedule that a worker has created fires at its time, and stays paused, if somebody has paused it, when a worker starts again."""

import asyncio
import signal
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from mnestic.memory.maintenance.reports import MaintenanceReport
from mnestic.memory.names import maintenance_workflow_id
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.settings import Settings

pytestmark = pytest.mark.acceptance

LIMIT_S = 240.0
START = timedelta(seconds=40)  # until a worker has created its Schedules


async def test_a_schedule_fires_and_stays_paused_when_the_worker_starts_again(
    client: MnesticClient, settings: Settings, start_worker: Callable[..., Any]
) -> None:
    await client.memory("ada").add("The code is 4711.")
    fires_at = (datetime.now(UTC) + START).replace(second=0, microsecond=0) + timedelta(minutes=1)
    for name, value in (("hour", fires_at.hour), ("minute", fires_at.minute), ("jitter", "PT0S")):
        await client.maintenance.set_policy(f"nightly.times.{name}", value)
    first = start_worker(settings)

    report = await until_reported(client)
    handle = client.temporal.get_schedule_handle(
        maintenance_workflow_id(settings.tenant_id, "nightly")
    )
    await handle.pause(note="the disk is being replaced")  # as the Temporal UI does
    await asyncio.to_thread(first.stop, signal.SIGKILL)
    second = start_worker(settings)
    await asyncio.to_thread(second.until, lambda: "worker ready" in second.err, what="ready")
    schedules = await client.maintenance.list_schedules()
    await asyncio.to_thread(second.stop)

    (nightly,) = [each for each in schedules if each.kind == "nightly"]
    assert report.scheduled_at == fires_at
    assert (report.kind, report.agents, report.dry_run) == ("nightly", 1, False)
    assert (nightly.state, nightly.note) == ("paused", "the disk is being replaced")
    assert {each.state for each in schedules if each.kind != "nightly"} == {"active"}


async def until_reported(client: MnesticClient) -> MaintenanceReport:
    """The first report of a night."""
    async with asyncio.timeout(LIMIT_S):
        while True:
            reports, _ = await client.maintenance.list_reports("nightly")
            if reports:
                return reports[0]
            await asyncio.sleep(0.5)
