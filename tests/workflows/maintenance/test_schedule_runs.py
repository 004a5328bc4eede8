"""What a Schedule does with a run that meets the one before, and after a run that fails."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import ScheduleDescription, ScheduleHandle

from mnestic.memory.maintenance.policies import MaintenanceKind
from mnestic.memory.maintenance.reports import MaintenanceReport
from mnestic.memory.names import maintenance_workflow_id
from mnestic.memory.ports import Memory
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.maintenance_wiring import (
    create_schedules,
    maintenance_activities,
    make_maintenance_worker,
)
from mnestic.starter.settings import Settings
from tests.transactions import Begin

Until = Callable[..., Awaitable[Any]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "backups"


@pytest.fixture(autouse=True)
async def maintained(
    client: MnesticClient, memory: Memory, settings: Settings, admin_url: str, folder: Path
) -> AsyncIterator[None]:
    """A worker of maintenance that has a folder for backups, and the Schedules that it creates."""
    with_folder = settings.model_copy(update={"backup_directory": folder})
    activities = maintenance_activities(memory, admin_url=admin_url, backup_directory=folder)
    async with make_maintenance_worker(client.temporal, with_folder, activities=activities):
        await create_schedules(memory, client.temporal, with_folder)
        yield


@pytest.fixture
def handle(
    client: MnesticClient, settings: Settings
) -> Callable[[MaintenanceKind], ScheduleHandle]:
    """Temporal's own handle of a Schedule."""

    def find(kind: MaintenanceKind) -> ScheduleHandle:
        workflow_id = maintenance_workflow_id(settings.tenant_id, kind)
        return client.temporal.get_schedule_handle(workflow_id)

    return find


async def test_a_run_that_meets_the_one_before_is_skipped(
    client: MnesticClient,
    handle: Callable[[MaintenanceKind], ScheduleHandle],
    until: Until,
    begin: Begin,
) -> None:
    await client.memory("ada").facts.add("Mara", "lives_in", "Ghent")
    nightly = handle("nightly")

    async def find(ready: Callable[[ScheduleDescription], bool]) -> ScheduleDescription | None:
        description = await nightly.describe()
        return description if ready(description) else None

    async with begin() as writing:  # maintenance waits for whoever writes the agent's facts
        await writing.categories.lock()
        await nightly.trigger()
        first = await until(lambda: find(lambda found: bool(found.info.running_actions)))
        await nightly.trigger()
        skipped = await until(
            lambda: find(lambda found: found.info.num_actions_skipped_overlap > 0)
        )
    ended = await until(lambda: find(lambda found: not found.info.running_actions))
    reports, _ = await client.maintenance.list_reports()

    assert skipped.info.running_actions == first.info.running_actions
    assert (ended.info.num_actions, ended.info.num_actions_skipped_overlap) == (1, 1)
    assert [report.agents for report in reports] == [1]
    assert not ended.schedule.state.paused


async def test_a_run_that_fails_pauses_its_schedule_until_somebody_resumes_it(
    client: MnesticClient,
    folder: Path,
    handle: Callable[[MaintenanceKind], ScheduleHandle],
    until: Until,
) -> None:
    await client.memory("ada").add("The ferry leaves at nine.")
    await asyncio.to_thread(folder.write_text, "no folder", encoding="utf-8")

    async def find_paused() -> ScheduleDescription | None:
        description = await handle("backup").describe()
        return description if description.schedule.state.paused else None

    await handle("backup").trigger()
    paused = await until(find_paused)
    states = {each.kind: each.state for each in await client.maintenance.list_schedules()}
    reports, _ = await client.maintenance.list_reports("backup")
    await asyncio.to_thread(folder.unlink)
    await client.maintenance.resume("backup")
    await handle("backup").trigger()
    (report,) = await until(lambda: find_reports(client))

    assert "fail" in paused.schedule.state.note
    assert {kind for kind, state in states.items() if state == "paused"} == {"backup"}
    assert reports == ()
    assert (report.kind, report.problems, report.counts["backups_verified"]) == ("backup", (), 1)


async def find_reports(client: MnesticClient) -> tuple[MaintenanceReport, ...]:
    """The reports that there are by now."""
    return (await client.maintenance.list_reports())[0]
