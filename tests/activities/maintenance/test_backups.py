"""The backup of a tenant as an activity: by its policy, once for a run, and what it cannot do is a problem."""

import dataclasses
import shutil
import uuid
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from temporalio.testing import ActivityEnvironment

from mnestic.activities.maintenance.backups import BackupActivities
from mnestic.activities.maintenance.steps import MaintenanceStep, StepResult
from mnestic.memory.errors import UnavailableError
from mnestic.memory.maintenance.ports import BackupStore
from mnestic.memory.maintenance.reports import MaintenanceReport
from mnestic.memory.ports import Memory
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.maintenance.backup_client import BackupClient
from mnestic.starter.settings import Settings

Run = Callable[..., Awaitable[Any]]


@pytest.fixture
def backups(settings: Settings, admin_url: str, tmp_path: Path) -> BackupClient:
    return BackupClient(admin_url, tmp_path / "backups", tenant_id=settings.tenant_id)


@pytest.fixture
def run(memory: Memory, settings: Settings, admin_url: str, tmp_path: Path) -> Run:
    """Runs the activity, each time of another workflow unless one is named."""

    async def back_up(
        *,
        folder: Path | None = tmp_path / "backups",
        workflow: str = "",
        attempt: int = 1,
        **fields: Any,
    ) -> StepResult:
        def opened(tenant_id: str) -> BackupStore:
            return BackupClient(admin_url, folder, tenant_id=tenant_id)

        params = MaintenanceStep(
            tenant_id=settings.tenant_id,
            kind="backup",
            scheduled_at="2026-03-01T02:00:00Z",
            **fields,
        )
        environment = ActivityEnvironment()
        name = workflow or f"maintenance/{settings.tenant_id}/backup-{uuid.uuid4().hex}"
        environment.info = dataclasses.replace(environment.info, workflow_id=name, attempt=attempt)
        activities = BackupActivities(memory, open_backups=opened)
        return await environment.run(activities.back_up, params)

    return back_up


async def test_a_backup_is_made_verified_and_counted_once_and_a_dry_run_only_counts(
    ada: MemoryClient, run: Run, backups: BackupClient, tmp_path: Path
) -> None:
    await ada.add("The ferry leaves at nine.")

    dry = await run(dry_run=True)
    folder_is_there = (tmp_path / "backups").exists()
    done = await run(workflow="maintenance/t/backup-1")
    await ada.add("The ferry leaves at ten.")
    again = await run(workflow="maintenance/t/backup-1", attempt=2)

    audited = 1  # that the run has read the reports, since the folder was empty
    assert dry.counts == {
        "tables": done.counts["tables"],
        "rows": done.counts["rows"] - audited,
    }
    assert not folder_is_there
    assert again == done
    (backup,) = await backups.list()
    assert done.problems == ()
    assert done.counts == {
        "tables": len(backup.manifest.tables),
        "rows": backup.manifest.rows,
        "bytes": backup.manifest.bytes,
        "backups_verified": 1,
        "backups_removed": 0,
    }
    assert done.counts["rows"] > 5
    assert backup.verified_at is not None


async def test_the_policy_says_how_many_remain_and_whether_they_are_verified(
    set_policy: Run, run: Run, backups: BackupClient
) -> None:
    await set_policy(backup={"keep": 1, "verify": False})

    done = [await run() for _ in range(2)]

    assert [one.counts["backups_removed"] for one in done] == [0, 1]
    assert [one.verified_at for one in await backups.list()] == [None]


async def test_a_folder_that_has_lost_its_backups_fails_the_run_until_somebody_begins_anew(
    memory: Memory, settings: Settings, run: Run, backups: BackupClient, tmp_path: Path
) -> None:
    done = await run()
    now = datetime.now(UTC)
    report = MaintenanceReport(
        id="backup-1",
        kind="backup",
        scheduled_at=now,
        started_at=now,
        finished_at=now,
        agents=0,
        counts=done.counts,
    )
    async with memory.transaction(
        tenant_id=settings.tenant_id, agent_id="*", actor="test", write=True
    ) as transaction:
        await transaction.maintenance_reports.add(report)
    shutil.rmtree(tmp_path / "backups")

    with pytest.raises(Exception, match="holds no backup, and there were some") as refused:
        await run()
    was_made_again = (tmp_path / "backups").exists()
    await backups.create()

    assert refused.value.non_retryable  # type: ignore[attr-defined]
    assert not was_made_again
    assert (await run()).counts["backups_verified"] == 1


async def test_a_folder_in_use_is_tried_again(run: Run, backups: BackupClient) -> None:
    await backups.create()

    with backups._folder.locked(), pytest.raises(Exception, match="are in use") as refused:
        await run()

    assert refused.value.type == UnavailableError.__name__  # type: ignore[attr-defined]
    assert not refused.value.non_retryable  # type: ignore[attr-defined]
