"""Backups: the manifest that describes one, what may be restored from it, and which are removed when there are too many.

Files and databases, not Schedules, follow these rules.
"""

import hashlib
import re
from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

from pydantic import AwareDatetime, ConfigDict, Field, StringConstraints

from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.scope import Id

FORMAT, ENCRYPTED_FORMAT = 1, 2
"""The versions of the layout of a backup that this code writes: plain, and encrypted."""
_ID = re.compile(r"\d{8}T\d{6}Z-[0-9a-f]{8}")
_SHA256 = StringConstraints(pattern="^[0-9a-f]{64}$")
_NAME = StringConstraints(pattern="^[a-z_][a-z0-9_]{0,62}$")
Sha256 = Annotated[str, _SHA256]
Name = Annotated[str, _NAME]


class BackupTable(DeferredModel):
    """The rows of a table in a backup: text of `COPY`, ordered by the primary key, compressed with gzip.

    `bytes` and `sha256` are of the text; `file_bytes` and `file_sha256` of the compressed file.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    name: Name
    columns: tuple[Name, ...]
    rows: int = Field(ge=0)
    bytes: int = Field(ge=0)
    sha256: Sha256
    file_bytes: int = Field(ge=0)
    file_sha256: Sha256

    @property
    def file(self) -> str:
        """The name of the file."""
        return file_of(self.name)


class BackupManifest(DeferredModel):
    """What a backup holds. `tenant_id` is None if it is of the whole database. It is not encrypted itself."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    format: int = FORMAT
    id: str
    created_at: AwareDatetime
    schema_revision: str
    postgres_version: str
    tenant_id: Id | None
    tenants: tuple[Id, ...]
    tables: tuple[BackupTable, ...]
    sequences: dict[Name, int]

    @property
    def is_encrypted(self) -> bool:
        """Whether the files of its tables are encrypted."""
        return self.format == ENCRYPTED_FORMAT

    @property
    def rows(self) -> int:
        """The number of rows of all tables."""
        return sum(table.rows for table in self.tables)

    @property
    def bytes(self) -> int:
        """The size of all files."""
        return sum(table.file_bytes for table in self.tables)

    def holds(self, tenant_id: str) -> bool:
        """Whether it is of this tenant, or of a whole database in which this tenant was."""
        return self.tenant_id == tenant_id or (self.tenant_id is None and tenant_id in self.tenants)


class Backup(DeferredModel):
    """A complete backup, and when a restore of it into a scratch database was last found to be equal to it."""

    model_config = ConfigDict(frozen=True)

    manifest: BackupManifest
    verified_at: AwareDatetime | None = None


def file_of(table: str) -> str:
    """The name of the file that has the rows of a table."""
    return f"{table}.copy.gz"


def new_backup_id(at: datetime, *, run: str) -> str:
    """The id of the backup that a run makes at a time; another attempt of the run has the same."""
    return f"{at:%Y%m%dT%H%M%SZ}-{hashlib.sha256(run.encode()).hexdigest()[:8]}"


def is_backup_id(value: str) -> bool:
    """Whether a text can be the id of a backup."""
    return _ID.fullmatch(value) is not None


def check_backup_id(value: str) -> str:
    """Returns an id that can be one of a backup.

    Raises:
        InvalidInputError: it is none.
    """
    if not is_backup_id(value):
        why = f"{value[:60]!r} is not the id of one; `mnestic backup list` shows them"
        raise InvalidInputError(what="backup", why=why)
    return value


def surplus(backups: Sequence[Backup], *, keep: int) -> tuple[str, ...]:
    """The ids of the backups to remove: all but the newest `keep`, and never the newest that was verified.

    Args:
        backups: Of one tenant, or of the whole database.
        keep: How many remain, at least 1.
    """
    newest = sorted(backups, key=lambda one: (one.manifest.created_at, one.manifest.id))[::-1]
    verified = next((one.manifest.id for one in newest if one.verified_at is not None), None)
    return tuple(one.manifest.id for one in newest[keep:] if one.manifest.id != verified)


class RestoreResult(DeferredModel):
    """What a restore has done.

    `forgotten_since` topics were forgotten after the backup was made, and so are back. `problems` say what it could not do
    after the rows were restored, and why.
    """

    model_config = ConfigDict(frozen=True)

    backup_id: str
    tenants: tuple[Id, ...]
    rows: int
    forgotten_since: int
    vector_indexes: int
    problems: tuple[str, ...] = ()
