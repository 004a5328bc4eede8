"""The folder of backups: a folder for each, which has its name once all of it is written.

It knows files alone. One process works in it at a time; what a killed one has left behind begins with a dot, and is
removed by the next.
"""

import hashlib
import logging
import os
import shutil
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from pathlib import Path

from filelock import FileLock, Timeout
from pydantic import AwareDatetime, ConfigDict, ValidationError

from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.errors import (
    BackupDamagedError,
    ConfigurationError,
    InvalidInputError,
    NotFoundError,
    UnavailableError,
)
from mnestic.memory.maintenance.backups import (
    ENCRYPTED_FORMAT,
    Backup,
    BackupManifest,
    check_backup_id,
    is_backup_id,
)
from mnestic.memory.maintenance.ports import BackupCopies
from mnestic.memory.validation import problem_of
from mnestic.stores.postgres.maintenance.backup_files import BackupFiles

SETTING, KEY_SETTING = "MNESTIC_BACKUP_DIRECTORY", "MNESTIC_BACKUP_KEY_FILE"
_MANIFEST, _VERIFIED, _LOCK = "manifest.json", "verified.json", ".lock"
_WAIT_S = 1.0
_CHUNK_BYTES = 1 << 20
log = logging.getLogger("mnestic.maintenance")


class _Verification(DeferredModel):
    """When a backup was verified, and the manifest that it had then."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    at: AwareDatetime
    manifest_sha256: str


class BackupFolder:
    """The backups in a folder."""

    def __init__(self, path: Path, *, key: bytes | None = None, setting: str = SETTING) -> None:
        """Names the folder, which is made when the first backup is.

        Args:
            path: The folder.
            key: What new backups are encrypted with, and encrypted ones are read with.
            setting: What names the folder, for errors.
        """
        self.path, self._key, self._setting = path.absolute(), key, setting

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keeps other processes out, and removes what a killed one has left behind.

        Raises:
            UnavailableError: another process works in the folder.
            ConfigurationError: the folder cannot be written.
        """
        with self._writing():
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock = FileLock(self.path / _LOCK)
            try:
                lock.acquire(timeout=_WAIT_S)
            except Timeout:
                why = "another backup, verification or restore works in it; try again when it has ended"
                raise UnavailableError(f"the backups in {self.path} are in use: {why}") from None
        try:
            with self._writing():
                for left in self.path.glob(".*.partial"):
                    shutil.rmtree(left)
            yield
        finally:
            lock.release()

    @contextmanager
    def staging(self, name: str) -> Iterator[Path]:
        """An empty folder, which is removed at the end of the block if it is still there.

        Raises:
            ConfigurationError: the disk is full, or refuses to be written.
        """
        staging = self.path / f".{name}.partial"
        with self._writing():
            staging.mkdir(mode=0o700)
            try:
                yield staging
            finally:
                shutil.rmtree(staging, ignore_errors=True)

    def complete(self, staging: Path, manifest: BackupManifest) -> None:
        """Gives a backup its manifest and, once everything is on disk, its name.

        Raises:
            ConfigurationError: the disk is full, or refuses to be written.
        """
        with self._writing():
            _write(staging / _MANIFEST, manifest.model_dump_json(indent=1))
            _sync(staging)
            staging.rename(self.path / manifest.id)
            _sync(self.path)

    def read_files(self, backup_id: str) -> Iterator[tuple[str, Iterator[bytes]]]:
        """See the port `BackupCopies`."""
        self.get(backup_id)
        files = (self.path / backup_id).iterdir()
        for path in sorted(files, key=lambda file: file.name == _MANIFEST):
            with path.open("rb") as file:
                yield path.name, iter(partial(file.read, _CHUNK_BYTES), b"")

    def copy_from(self, other: BackupCopies, backup_id: str) -> None:
        """See the port `BackupCopies`."""
        with self.locked():
            if (self.path / check_backup_id(backup_id)).exists():
                return
            with self.staging(backup_id) as staging:
                for name, chunks in other.read_files(backup_id):
                    with (staging / name).open("xb") as target:
                        target.writelines(chunks)
                        target.flush()
                        os.fsync(target.fileno())
                _sync(staging)
                staging.rename(self.path / backup_id)

    def remove_copies(self, backup_ids: Collection[str]) -> None:
        """See the port `BackupCopies`."""
        with self.locked():
            for name in {one.manifest.id for one in self.list()} & {*backup_ids}:
                self.remove(name)

    def list(self) -> tuple[Backup, ...]:
        """The complete backups, the newest first; one whose manifest cannot be read is left out, with a warning.

        Raises:
            ConfigurationError: the folder cannot be read.
        """
        found = []
        with self._writing():
            names = sorted(path.name for path in self.path.iterdir()) if self.path.exists() else []
        for name in filter(is_backup_id, names):
            try:
                found.append(self.get(name))
            except NotFoundError:
                continue
            except (InvalidInputError, BackupDamagedError) as error:
                log.warning("a backup is left out", extra={"backup": name, "why": str(error)})
        return tuple(sorted(found, key=lambda one: one.manifest.created_at, reverse=True))

    def get(self, backup_id: str) -> Backup:
        """A complete backup.

        Raises:
            InvalidInputError: that is no id.
            NotFoundError: there is no such backup, or it is not complete.
            BackupDamagedError: its manifest cannot be read, or a newer Mnestic has written it.
        """
        folder = self.path / check_backup_id(backup_id)
        try:
            text = (folder / _MANIFEST).read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            raise NotFoundError(what=f"backup in {self.path}", name=backup_id) from None
        except OSError as error:
            raise BackupDamagedError(backup_id=backup_id, why=_reason(error)) from error
        try:
            manifest = BackupManifest.model_validate_json(text)
        except ValidationError as error:
            why = f"its manifest cannot be read: {problem_of(error)}"
            raise BackupDamagedError(backup_id=backup_id, why=why) from None
        if manifest.format > ENCRYPTED_FORMAT:
            why = f"has format {manifest.format}, this version reads {ENCRYPTED_FORMAT}; install a newer one"
            raise InvalidInputError(what=f"backup {backup_id}", why=why)
        if manifest.id != backup_id:
            why = f"its manifest is of backup {manifest.id}"
            raise BackupDamagedError(backup_id=backup_id, why=why)
        return Backup(manifest=manifest, verified_at=_verified_at(folder, text))

    def new_files(self, staging: Path, backup_id: str) -> BackupFiles:
        """The files of a backup that is made in a folder."""
        return BackupFiles(staging, backup_id, self._key)

    def files_of(self, manifest: BackupManifest) -> BackupFiles:
        """The files of a backup.

        Raises:
            ConfigurationError: they are encrypted, and there is no key.
        """
        key = self._key if manifest.is_encrypted else None
        if manifest.is_encrypted and key is None:
            why = f"is not set, and backup {manifest.id} is encrypted; name the file of its key"
            raise ConfigurationError(setting=KEY_SETTING, why=why)
        return BackupFiles(self.path / manifest.id, manifest.id, key)

    def note_verified(self, manifest: BackupManifest, *, at: datetime) -> None:
        """Notes that a backup was verified.

        Raises:
            ConfigurationError: the folder cannot be written.
        """
        folder = self.path / manifest.id
        with self._writing():
            of = hashlib.sha256((folder / _MANIFEST).read_bytes()).hexdigest()
            note = _Verification(at=at, manifest_sha256=of)
            _write(folder / f".{_VERIFIED}", note.model_dump_json(indent=1))
            (folder / f".{_VERIFIED}").replace(folder / _VERIFIED)

    def remove(self, backup_id: str) -> None:
        """Removes a backup; from its first moment it is not one any more.

        Raises:
            ConfigurationError: the folder cannot be written.
        """
        with self._writing():
            leaving = self.path / f".{check_backup_id(backup_id)}.partial"
            (self.path / backup_id).rename(leaving)
            shutil.rmtree(leaving)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Says in one line why files cannot be written."""
        try:
            yield
        except OSError as error:
            why = f"{self.path} cannot be used: {_reason(error)}; make room or mend its rights, or name another folder"
            raise ConfigurationError(setting=self._setting, why=why) from error


def _verified_at(folder: Path, manifest: bytes) -> datetime | None:
    try:
        found = _Verification.model_validate_json((folder / _VERIFIED).read_bytes())
    except (OSError, ValidationError):  # of no use, so the backup counts as not verified
        return None
    is_same = found.manifest_sha256 == hashlib.sha256(manifest).hexdigest()
    return found.at if is_same else None


def _write(path: Path, text: str) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def _sync(folder: Path) -> None:
    """Has the names in a folder on disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _reason(error: OSError) -> str:
    return error.strerror or type(error).__name__
