"""`kill -9` in the middle of a backup, a restore and a verification, by a process of its own."""

import subprocess
import sys

import pytest

from tests.starter.maintenance.conftest import Place, databases, place

__all__ = ["place"]  # a fixture
pytestmark = pytest.mark.acceptance

# A process that backs up, verifies or restores, and stands still at a table.
_STANDS_STILL = """
import asyncio, sys, threading
from pathlib import Path
from mnestic.starter.maintenance.backup_client import BackupClient

url, folder, table, call, *rest = sys.argv[1:]

def on_table(name):
    if name == table:
        print(name, flush=True)
        threading.Event().wait()

client = BackupClient(url, Path(folder), tenant_id="ours", on_table=on_table)
asyncio.run(getattr(client, call)(*rest, **({"replace": True} if call == "restore" else {})))
"""


async def test_a_backup_killed_in_the_middle_counts_for_nothing(place: Place) -> None:
    await place.fill()
    kill_at(place, "fact", "create")

    left = await place.backups().list()
    remains = [path.name for path in place.folder.iterdir() if path.name != ".lock"]
    backup = await place.backups().create()

    assert left == ()
    assert [name.partition("-")[2][-8:] for name in remains] == [".partial"]
    assert await place.backups().list() == (backup,)
    assert {path.name for path in place.folder.iterdir()} == {".lock", backup.manifest.id}


async def test_a_restore_or_a_verification_killed_in_the_middle_changes_nothing(
    place: Place,
) -> None:
    await place.fill()
    backup = (await place.backups().create()).manifest.id
    await place.memory_of().add("Something new.")
    before = place.rows()

    for table in ("audit_log", "working_memory"):
        kill_at(place, table, "restore", backup)
        assert place.rows() == before
    kill_at(place, "fact", "verify", backup)
    left = databases(place.url)
    verified = await place.backups().verify(backup)
    await place.backups().restore(backup, replace=True)

    assert len(left) == 1  # which the next one removes
    assert verified.verified_at is not None
    assert databases(place.url) == []
    assert place.rows() != before


def kill_at(place: Place, table: str, *call: str) -> None:
    """Makes a call in a process of its own, and kills that when it is at a table."""
    process = subprocess.Popen(
        [sys.executable, "-c", _STANDS_STILL, place.url, str(place.folder), table, *call],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    with process:
        assert process.stdout.readline() == f"{table}\n"
        process.kill()
