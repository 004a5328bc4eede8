"""The file of one table in a backup: written as its rows arrive, and read back row by row."""

import gzip
import hashlib
import io
import os
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import IO, TYPE_CHECKING, BinaryIO, NamedTuple

from mnestic.memory.maintenance.backups import BackupTable, file_of
from mnestic.stores.postgres.maintenance.backup_tables import CopiedTable, copy_out
from mnestic.stores.postgres.maintenance.owner_sessions import Owner

if TYPE_CHECKING:
    from mnestic.stores.postgres.maintenance.sealed_files import SealedWriter

_LEVEL = 4  # of gzip: of vectors a third of the time of level 6 and a twelfth of 9, files 6 and 11 % larger
_BUFFER_BYTES = 1 << 20
Step = Callable[[str], None]
"""Gets the name of the table that is copied, again and again; an error that it raises ends the work."""


class RowDigest:
    """Size and SHA-256 of the text of a table's rows."""

    def __init__(self) -> None:
        self.bytes, self._sha256 = 0, hashlib.sha256()

    def write(self, text: bytes) -> int:
        """Adds rows."""
        self.bytes += len(text)
        self._sha256.update(text)
        return len(text)

    @property
    def sha256(self) -> str:
        """Of all rows so far."""
        return self._sha256.hexdigest()


class _HashedFile(RowDigest):
    """A file, whose size and SHA-256 are known when it is written."""

    def __init__(self, file: IO[bytes]) -> None:
        super().__init__()
        self._file = file

    def write(self, text: bytes) -> int:
        """Writes on."""
        super().write(text)
        return self._file.write(text)

    def flush(self) -> None:
        """Has it on disk."""
        self._file.flush()
        os.fsync(self._file.fileno())


class BackupFiles(NamedTuple):
    """The files of a backup: their folder, and the key that they are encrypted with, if they are."""

    folder: Path
    backup_id: str
    key: bytes | None

    def sealed(self, file: _HashedFile, table: str) -> "SealedWriter | nullcontext[_HashedFile]":
        """What encrypts the file of a table, until the end of the block."""
        if self.key is None:
            return nullcontext(file)
        from mnestic.stores.postgres.maintenance.sealed_files import SealedWriter  # noqa: PLC0415 - few have a key

        return SealedWriter(file, self.key, name=f"{self.backup_id}/{table}")

    def opened(self, file: BinaryIO, table: str) -> BinaryIO | io.BufferedReader:
        """What reads the file of a table."""
        if self.key is None:
            return file
        from mnestic.stores.postgres.maintenance.sealed_files import SealedReader  # noqa: PLC0415 - few have a key

        return io.BufferedReader(
            SealedReader(file, self.key, name=f"{self.backup_id}/{table}"), _BUFFER_BYTES
        )


def write_table(
    owner: Owner, table: CopiedTable, files: BackupFiles, *, tenant_id: str | None, step: Step
) -> BackupTable:
    """Copies a table into its file, and describes it.

    Raises:
        OSError: the file cannot be written.
    """
    with (files.folder / file_of(table.name)).open("xb") as file:
        written = _HashedFile(file)
        with (
            files.sealed(written, table.name) as compressed,
            gzip.GzipFile(
                filename="", mode="wb", compresslevel=_LEVEL, fileobj=compressed, mtime=0
            ) as out,
        ):
            rows, text = digest_table(owner, table, tenant_id=tenant_id, step=step, out=out)
        written.flush()
    return BackupTable(
        name=table.name,
        columns=table.columns,
        rows=rows,
        bytes=text.bytes,
        sha256=text.sha256,
        file_bytes=written.bytes,
        file_sha256=written.sha256,
    )


def digest_table(
    owner: Owner,
    table: CopiedTable,
    *,
    tenant_id: str | None,
    step: Step,
    out: IO[bytes] | gzip.GzipFile | None = None,
) -> tuple[int, RowDigest]:
    """The number of rows of a table and the digest of their text, which is also written to `out`."""
    digest, buffer = RowDigest(), bytearray()

    def drain() -> None:
        step(table.name)
        text = bytes(buffer)
        buffer.clear()
        digest.write(text)
        if out is not None:
            out.write(text)

    with owner.cursor() as cursor:
        with cursor.copy(copy_out(table, tenant_id=tenant_id)) as copy:
            for chunk in copy:
                buffer += chunk
                if len(buffer) >= _BUFFER_BYTES:
                    drain()
        drain()
        return cursor.rowcount, digest


def read_rows(files: BackupFiles, table: BackupTable, *, tenant_id: str | None) -> Iterator[bytes]:
    """The text of a table's rows in large pieces: of all, or of one tenant.

    Raises:
        OSError: the file cannot be read.
    """
    with (
        (files.folder / table.file).open("rb") as stored,
        gzip.open(files.opened(stored, table.name), "rb") as file,
    ):
        if tenant_id is None:
            while chunk := file.read(_BUFFER_BYTES):
                yield chunk
            return
        beginning, buffer = tenant_id.encode() + b"\t", bytearray()  # ids have nothing to escape
        for row in file:
            if row.startswith(beginning):
                buffer += row
            if len(buffer) >= _BUFFER_BYTES:
                yield bytes(buffer)
                buffer.clear()
        if buffer:
            yield bytes(buffer)
