"""What settings say of backups: their folder, their key, and where each is copied to."""

import base64
import binascii
from pathlib import Path
from typing import NamedTuple

from mnestic.memory.errors import ConfigurationError
from mnestic.memory.maintenance.ports import BackupCopies
from mnestic.starter.settings import Settings, environment_name
from mnestic.stores.postgres.maintenance.backup_folder import KEY_SETTING

_KEY_BYTES = 32  # of AES-256


class BackupOptions(NamedTuple):
    """What new backups are encrypted with and encrypted ones read with, and the second folder and the bucket that each is copied to."""

    key: bytes | None = None
    copy_directory: Path | None = None
    bucket: str | None = None


def find_backup_directory(settings: Settings) -> Path | None:
    """The folder of backups: the one that settings name, or of the embedded runtime one beside its data directory."""
    data_dir = settings.data_dir.expanduser().absolute()
    beside = None if settings.database_url else data_dir.with_name(f"{data_dir.name}-backups")
    return settings.backup_directory or beside


def read_backup_options(settings: Settings) -> BackupOptions:
    """The options of backups that settings name.

    Raises:
        ConfigurationError: the file of the key cannot be read, or has no key.
    """
    return BackupOptions(
        key=read_backup_key(settings),
        copy_directory=settings.backup_copy_directory,
        bucket=settings.backup_bucket,
    )


def read_backup_key(settings: Settings) -> bytes | None:
    """The key that backups are encrypted with; None if they are not.

    Raises:
        ConfigurationError: its file cannot be read, or has no key.
    """
    path = settings.backup_key_file
    if path is None:
        return None
    try:
        key = base64.b64decode(path.expanduser().read_bytes().strip(), validate=True)
    except OSError as error:
        why = f"{path} cannot be read: {error.strerror}"
        raise ConfigurationError(setting=KEY_SETTING, why=why) from None
    except binascii.Error:
        key = b""
    if len(key) != _KEY_BYTES:
        why = f"{path} has no key: 32 bytes in base64, such as `openssl rand -base64 32` makes"
        raise ConfigurationError(setting=KEY_SETTING, why=why)
    return key


def shares_disk(settings: Settings) -> bool:
    """Whether the folder of backups is on the disk of the embedded runtime's data."""
    folder = find_backup_directory(settings)
    if settings.database_url or folder is None:
        return False
    return folder.stat().st_dev == settings.data_dir.expanduser().stat().st_dev


def open_bucket(url: str | None) -> BackupCopies | None:
    """The bucket of an address, if there is one.

    Raises:
        ConfigurationError: it is no address of a bucket, or the package that opens it is missing.
    """
    if url is None:
        return None
    try:
        from mnestic.stores.s3.backup_bucket import BackupBucket  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as error:
        if error.name != "obstore":
            raise
        why = "needs the package obstore; install mnestic[s3]"
        raise ConfigurationError(setting=environment_name("backup_bucket"), why=why) from None
    return BackupBucket(url)
