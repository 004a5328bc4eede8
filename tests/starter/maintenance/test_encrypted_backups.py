"""Backups that are encrypted with a key of the operator, and what reads them."""

import base64
import os
from pathlib import Path

import pytest

from mnestic.memory.errors import ConfigurationError
from mnestic.starter.maintenance.backup_client import BackupClient
from mnestic.starter.maintenance.backup_settings import BackupOptions, read_backup_key
from mnestic.starter.settings import Settings
from tests.starter.maintenance.conftest import Place

KEY = os.urandom(32)
GZIP = b"\x1f\x8b"


def backups(place: Place, key: bytes | None) -> BackupClient:
    return BackupClient(place.url, place.folder, tenant_id="ours", options=BackupOptions(key=key))


async def test_an_encrypted_backup_is_verified_and_restored_with_its_key_alone(
    place: Place,
) -> None:
    await place.fill()
    before = place.rows()
    made = await backups(place, KEY).create()
    name = made.manifest.id
    files = {path.name: path.read_bytes() for path in (place.folder / name).glob("*.copy.gz")}
    plain = await backups(place, None).create()

    verified = await backups(place, KEY).verify(name)
    place.empty("ours")
    with pytest.raises(ConfigurationError, match=f"is not set, and backup {name} is encrypted"):
        await backups(place, None).restore(name)
    with pytest.raises(ConfigurationError, match=f"another key than that of backup {name}"):
        await backups(place, os.urandom(32)).restore(name)
    nothing = place.rows()
    restored = await backups(place, KEY).restore(name, replace=True)

    assert verified.verified_at is not None
    assert (made.manifest.is_encrypted, plain.manifest.is_encrypted) == (True, False)
    assert len(files) == len(made.manifest.tables)
    assert [name for name, content in files.items() if content.startswith(GZIP)] == []
    assert nothing["entry"] == b""
    assert restored.rows == made.manifest.rows
    assert {name: rows for name, rows in place.rows().items() if rows != before[name]} == {}
    assert (await backups(place, KEY).verify(plain.manifest.id)).verified_at is not None


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (None, "No such file"),
        (b"no key", "32 bytes in base64"),
        (b"c2hvcnQ=", "32 bytes in base64"),
    ],
)
def test_a_file_without_a_key_is_refused_and_not_quoted(
    settings: Settings, tmp_path: Path, content: bytes | None, why: str
) -> None:
    path = tmp_path / "backup.key"
    if content is not None:
        path.write_bytes(content)

    with pytest.raises(ConfigurationError, match=why) as refused:
        read_backup_key(settings.model_copy(update={"backup_key_file": path}))

    assert "MNESTIC_BACKUP_KEY_FILE" in str(refused.value)
    assert "c2hvcnQ" not in str(refused.value)
    path.write_bytes(base64.b64encode(KEY) + b"\n")
    assert read_backup_key(settings.model_copy(update={"backup_key_file": path})) == KEY
