"""`kill -9` of a worker in the middle of a scheduled backup: another worker makes it whole, and makes one."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from mnestic.memory.ports import Memory
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.maintenance.backup_client import BackupClient
from mnestic.starter.maintenance_wiring import maintenance_activities, make_maintenance_worker
from mnestic.starter.settings import Settings

pytestmark = pytest.mark.acceptance

# A worker of maintenance, which stands still at a table of a backup.
_WORKER = """
import asyncio, sys, threading
from pathlib import Path

from mnestic.activities.maintenance.backups import BackupActivities
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.maintenance.backup_client import BackupClient
from mnestic.starter.maintenance_wiring import make_maintenance_worker
from mnestic.starter.settings import load_settings

settings = load_settings()
admin_url, folder, table, time = sys.argv[1:]
seen = []

def on_table(name):
    seen.append(name)
    if seen.count(table) == int(time):
        print(name, flush=True)
        threading.Event().wait()

def opened(tenant_id):
    return BackupClient(admin_url, Path(folder), tenant_id=tenant_id, on_table=on_table)

async def main():
    async with await MnesticClient.connect(settings) as client:
        backups = BackupActivities(client._memory, open_backups=opened)
        async with make_maintenance_worker(client.temporal, settings, activities=[backups.back_up]):
            await asyncio.Event().wait()

asyncio.run(main())
"""


@pytest.mark.parametrize(
    ("table", "time"), [("agent_revision", 1), ("working_memory", 1), ("entry", 2)]
)
async def test_a_worker_killed_in_the_middle_of_a_backup_costs_a_retry(
    client: MnesticClient,
    memory: Memory,
    settings: Settings,
    admin_url: str,
    tmp_path: Path,
    table: str,
    time: int,
) -> None:
    """The first time a table is copied, the second time the backup is verified."""
    folder = tmp_path / "backups"
    await client.memory("ada").add("The ferry leaves at nine.")
    run = await client.maintenance.start("backup")
    kill_at(table, time, settings, admin_url, str(folder))
    remains = [path.name for path in folder.glob(".*.partial")]

    activities = maintenance_activities(memory, admin_url=admin_url, backup_directory=folder)
    async with make_maintenance_worker(client.temporal, settings, activities=activities):
        report = await run.result()

    (backup,) = await BackupClient(admin_url, folder, tenant_id=settings.tenant_id).list()
    assert len(remains) == (1 if time == 1 else 0)
    assert report.problems == ()
    assert report.counts["rows"] == backup.manifest.rows
    assert backup.verified_at is not None
    assert {path.name for path in folder.iterdir()} == {".lock", backup.manifest.id}


def kill_at(table: str, time: int, settings: Settings, admin_url: str, folder: str) -> None:
    """Runs a worker in a process of its own, and kills that when it is at a table so many times."""
    assert settings.database_url is not None
    env = {
        **os.environ,
        "MNESTIC_DATABASE_URL": settings.database_url.get_secret_value(),
        "MNESTIC_DATA_DIR": str(settings.data_dir),
        "MNESTIC_TENANT_ID": settings.tenant_id,
        "MNESTIC_TASK_QUEUE": settings.task_queue,
        "TEMPORAL_ADDRESS": str(settings.temporal_address),
    }
    process = subprocess.Popen(
        [sys.executable, "-c", _WORKER, admin_url, folder, table, str(time)],
        env=env,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    with process:
        assert process.stdout.readline() == f"{table}\n"
        process.kill()
