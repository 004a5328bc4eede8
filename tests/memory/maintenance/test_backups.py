"""The rules of backups: their ids, what may be restored from one, and which are removed."""

from datetime import UTC, datetime, timedelta

import pytest

from mnestic.memory.errors import InvalidInputError
from mnestic.memory.maintenance.backups import (
    Backup,
    BackupManifest,
    check_backup_id,
    new_backup_id,
    surplus,
)

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def backup(day: int, *, verified: bool = False, tenant: str | None = "ours") -> Backup:
    at = NOON + timedelta(days=day)
    manifest = BackupManifest(
        id=new_backup_id(at, run="r"),
        created_at=at,
        schema_revision="0018",
        postgres_version="18.0",
        tenant_id=tenant,
        tenants=("ours",),
        tables=(),
        sequences={},
    )
    return Backup(manifest=manifest, verified_at=at if verified else None)


def days(ids: tuple[str, ...]) -> list[int]:
    return [int(name[6:8]) - 1 for name in ids]


def test_another_attempt_of_a_run_has_the_same_id() -> None:
    name = new_backup_id(NOON, run="maintenance/ours/backup-1")

    assert name == new_backup_id(NOON, run="maintenance/ours/backup-1")
    assert name != new_backup_id(NOON, run="maintenance/ours/backup-2")
    assert check_backup_id(name) == name


@pytest.mark.parametrize("name", ["..", "20260301T120000Z", "20260301T120000Z-0000000g", "a/b"])
def test_what_is_no_id_is_refused(name: str) -> None:
    with pytest.raises(InvalidInputError, match="backup list"):
        check_backup_id(name)


@pytest.mark.parametrize(
    ("verified", "keep", "removed"),
    [
        ((), 2, [1, 0]),
        ((0,), 2, [1]),
        ((0, 1), 2, [0]),
        ((3,), 2, [1, 0]),
        ((), 9, []),
        ((0,), 1, [2, 1]),
    ],
)
def test_the_newest_remain_and_the_newest_that_was_verified(
    verified: tuple[int, ...], keep: int, removed: list[int]
) -> None:
    backups = [backup(day, verified=day in verified) for day in (2, 0, 3, 1)]

    assert days(surplus(backups, keep=keep)) == removed


def test_a_tenant_is_in_its_own_backup_and_in_one_of_all() -> None:
    assert backup(0).manifest.holds("ours")
    assert backup(0, tenant=None).manifest.holds("ours")
    assert not backup(0, tenant=None).manifest.holds("theirs")
    assert not backup(0, tenant="theirs").manifest.holds("ours")
