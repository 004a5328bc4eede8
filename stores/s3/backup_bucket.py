"""The copies of backups in a bucket: the files of each under its id, of which the manifest is written last and removed first.

What has no manifest is no backup. The address, the region and the credentials of the bucket are those of `AWS_…`.
"""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from datetime import timedelta

import obstore
from obstore.exceptions import BaseError, GenericError
from obstore.store import from_url

from mnestic.memory.errors import ConfigurationError, NotFoundError, UnavailableError
from mnestic.memory.maintenance.ports import BackupCopies

SETTING = "MNESTIC_BACKUP_BUCKET"
_MANIFEST = "manifest.json"
_RETRYING = timedelta(seconds=30)


class BackupBucket:
    """Implements `mnestic.memory.maintenance.ports.BackupCopies`."""

    def __init__(self, url: str) -> None:
        """Names the bucket, and where in it the backups are.

        Args:
            url: Such as s3://bucket/mnestic.

        Raises:
            ConfigurationError: it is no address of a bucket, or the settings of its store are wrong.
        """
        self._url = url
        with self._failures():
            self._store = from_url(url, retry_config={"max_retries": 3, "retry_timeout": _RETRYING})

    def read_files(self, backup_id: str) -> Iterator[tuple[str, Iterator[bytes]]]:
        """See the port."""
        with self._failures():
            if not self._holds(backup_id):
                raise NotFoundError(what=f"backup in {self._url}", name=backup_id)
            names = self._names(backup_id)
        for name in sorted(names, key=lambda name: name == _MANIFEST):
            yield name, self._read(f"{backup_id}/{name}")

    def copy_from(self, other: BackupCopies, backup_id: str) -> None:
        """See the port."""
        with self._failures():
            if self._holds(backup_id):
                return
            for name, chunks in other.read_files(backup_id):
                obstore.put(self._store, f"{backup_id}/{name}", chunks)

    def remove_copies(self, backup_ids: Collection[str]) -> None:
        """See the port."""
        with self._failures():
            for backup_id in backup_ids:
                names = self._names(backup_id)
                for name in sorted(names, key=lambda name: name != _MANIFEST):
                    obstore.delete(self._store, f"{backup_id}/{name}")

    def _holds(self, backup_id: str) -> bool:
        try:
            obstore.head(self._store, f"{backup_id}/{_MANIFEST}")
        except FileNotFoundError:
            return False
        return True

    def _read(self, path: str) -> Iterator[bytes]:
        with self._failures():
            yield from map(bytes, obstore.get(self._store, path))

    def _names(self, backup_id: str) -> list[str]:
        found = obstore.list(self._store, f"{backup_id}/")
        return [one["path"].rpartition("/")[2] for page in found for one in page]

    @contextmanager
    def _failures(self) -> Iterator[None]:
        """Says in one line why the bucket cannot be used."""
        try:
            yield
        except GenericError as error:
            raise UnavailableError(f"{self._url} does not answer: {_reason(error)}") from error
        except (BaseError, OSError, ValueError) as error:
            raise ConfigurationError(setting=SETTING, why=_reason(error)) from error


def _reason(error: Exception) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)
