"""Backups on a Schedule: there once a worker has a folder, with the report of each run."""

from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from mnestic.memory.errors import InvalidInputError
from mnestic.memory.names import maintenance_workflow_id
from mnestic.memory.ports import Memory
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.maintenance.backup_client import open_backups
from mnestic.starter.maintenance_wiring import (
    create_schedules,
    maintenance_activities,
    make_maintenance_worker,
)
from mnestic.starter.settings import Settings

Until = Callable[..., Awaitable[Any]]


@pytest.fixture
def with_folder(settings: Settings, tmp_path: Path) -> Settings:
    return settings.model_copy(update={"backup_directory": tmp_path / "backups"})


@pytest.fixture
async def maintained(
    client: MnesticClient, memory: Memory, with_folder: Settings, admin_url: str
) -> AsyncIterator[None]:
    """A worker of maintenance that has a folder for backups, and the Schedules that it creates."""
    activities = maintenance_activities(
        memory, admin_url=admin_url, backup_directory=with_folder.backup_directory
    )
    async with make_maintenance_worker(client.temporal, with_folder, activities=activities):
        await create_schedules(memory, client.temporal, with_folder)
        yield


@pytest.mark.usefixtures("maintained")
async def test_the_schedule_fires_and_its_backup_is_listed(
    client: MnesticClient, settings: Settings, with_folder: Settings, until: Until
) -> None:
    await client.memory("ada").add("The ferry leaves at nine.")
    handle = client.temporal.get_schedule_handle(
        maintenance_workflow_id(settings.tenant_id, "backup")
    )

    await handle.trigger()
    report = await until(lambda: _report(client))

    (backup,) = await open_backups(with_folder).list()
    assert report.problems == ()
    assert report.counts["rows"] == backup.manifest.rows
    assert (report.counts["bytes"], report.counts["backups_verified"]) == (
        backup.manifest.bytes,
        1,
    )
    assert backup.verified_at is not None


async def test_without_a_folder_there_is_no_schedule_until_a_worker_has_one(
    client: MnesticClient, memory: Memory, settings: Settings, with_folder: Settings
) -> None:
    await create_schedules(memory, client.temporal, settings)
    await client.maintenance.set_policy("backup.times.hour", 5)
    await client.maintenance.set_policy("backup.times.jitter", "PT0S")
    before = [one.kind for one in await client.maintenance.list_schedules()]

    await create_schedules(memory, client.temporal, with_folder)

    after = {one.kind: one for one in await client.maintenance.list_schedules()}
    assert "backup" not in before
    assert after["backup"].next_run_at is not None
    assert after["backup"].next_run_at.hour == 5


async def test_a_backup_is_of_a_whole_tenant_and_of_now(client: MnesticClient) -> None:
    day = datetime(2026, 3, 1, tzinfo=UTC)

    with pytest.raises(InvalidInputError, match="a backup is of a whole tenant"):
        await client.maintenance.start("backup", agent_id="ada")
    with pytest.raises(InvalidInputError, match="makes backups of now"):
        await client.maintenance.backfill("backup", since=day, until=day + timedelta(days=2))


async def _report(client: MnesticClient) -> Any:
    """The report of the first backup, once there is one."""
    reports, _ = await client.maintenance.list_reports("backup")
    return reports[0] if reports else None
