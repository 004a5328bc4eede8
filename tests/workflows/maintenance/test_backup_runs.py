"""Backups on a Schedule: there once a worker has a folder, with the report of each run."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from mnestic.memory.errors import InvalidInputError
from mnestic.memory.ports import Memory
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.maintenance_wiring import (
    create_schedules,
)
from mnestic.starter.settings import Settings


@pytest.fixture
def with_folder(settings: Settings, tmp_path: Path) -> Settings:
    return settings.model_copy(update={"backup_directory": tmp_path / "backups"})


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
