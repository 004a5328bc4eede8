"""Backups in a scratch database: verified there, and brought from an older schema to this code's."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager

from mnestic.memory.errors import BackupDamagedError, ConfigurationError, SchemaVersionError
from mnestic.memory.maintenance.backups import BackupManifest
from mnestic.stores.postgres.maintenance.backup_creation import copy_tables
from mnestic.stores.postgres.maintenance.backup_files import BackupFiles, Step, digest_table
from mnestic.stores.postgres.maintenance.backup_folder import KEY_SETTING, BackupFolder
from mnestic.stores.postgres.maintenance.backup_restore import load_rows, without_row_security
from mnestic.stores.postgres.maintenance.backup_tables import list_copied_tables, prepare_texts
from mnestic.stores.postgres.maintenance.owner_sessions import Owner, owner_session
from mnestic.stores.postgres.maintenance.scratch_database import migrate_scratch, scratch_database
from mnestic.stores.postgres.schema import SCHEMA_VERSION


def verify_backup(
    admin_url: str, folder: BackupFolder, manifest: BackupManifest, *, step: Step
) -> None:
    """Restores a backup into a scratch database, and compares the rows of each table with the manifest.

    Args:
        admin_url: Of the owner of the tables, who may create databases.
        folder: Where backups are; this process has its lock.
        manifest: Of the backup.
        step: Is called again and again.

    Raises:
        BackupDamagedError: a file or the rows of a table are not what was backed up.
        SchemaVersionError: it is of a newer schema than this code's.
        ConfigurationError: the role may not create databases.
        DatabaseUnavailableError: Postgres does not answer.
    """
    _require_known_schema(manifest)
    _check_files(folder, manifest)
    with (
        scratch_database(admin_url, schema=manifest.schema_revision) as scratch,
        owner_session(scratch) as owner,
        owner.transaction(),
        without_row_security(owner),
    ):
        load_rows(owner, manifest, folder.files_of(manifest), tenant_id=None, step=step)
        _compare(owner, manifest, step=step)


@contextmanager
def at_this_schema(
    admin_url: str, folder: BackupFolder, manifest: BackupManifest, *, step: Step
) -> Iterator[tuple[BackupManifest, BackupFiles]]:
    """A backup whose files were checked, as it is or, if its schema is older, migrated in a scratch database.

    Gives its manifest and its files, which are there for the block.

    Raises:
        BackupDamagedError: a file is not what was backed up.
        SchemaVersionError: it is of a newer schema than this code's.
        ConfigurationError: the role may not create databases, or the disk is full.
        DatabaseUnavailableError: Postgres does not answer.
    """
    _require_known_schema(manifest)
    _check_files(folder, manifest)
    files = folder.files_of(manifest)
    if manifest.schema_revision == SCHEMA_VERSION:
        yield manifest, files
        return
    with folder.staging(f"{manifest.id}.migrated") as staging:
        with scratch_database(admin_url, schema=manifest.schema_revision) as scratch:
            with owner_session(scratch) as owner, owner.transaction(), without_row_security(owner):
                load_rows(owner, manifest, files, tenant_id=None, step=step)
            migrate_scratch(scratch, to=SCHEMA_VERSION)
            with owner_session(scratch) as owner, owner.transaction(), without_row_security(owner):
                files = folder.new_files(staging, manifest.id)
                migrated = copy_tables(owner, files, tenant_id=manifest.tenant_id, step=step)
        yield migrated.model_copy(update={"created_at": manifest.created_at}), files


def _check_files(folder: BackupFolder, manifest: BackupManifest) -> None:
    """Refuses a backup of which a file is missing or is not what was written.

    Raises:
        BackupDamagedError: names the file.
    """
    files = folder.files_of(manifest)
    for table in manifest.tables:
        try:
            with (files.folder / table.file).open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
                size = file.tell()
        except OSError as error:
            why = f"{table.file} cannot be read: {error.strerror or type(error).__name__}"
            raise BackupDamagedError(backup_id=manifest.id, why=why) from error
        if (size, digest) != (table.file_bytes, table.file_sha256):
            why = f"{table.file} is not the file that was written, by size or checksum"
            raise BackupDamagedError(backup_id=manifest.id, why=why)
    if manifest.is_encrypted:
        _check_key(files, manifest)


def _check_key(files: BackupFiles, manifest: BackupManifest) -> None:
    """Refuses another key than that of a backup, whose files are whole.

    Raises:
        ConfigurationError: it is another.
    """
    first = manifest.tables[0]
    try:
        with (files.folder / first.file).open("rb") as stored:
            files.opened(stored, first.name).read(1)
    except OSError as error:
        why = f"names another key than that of backup {manifest.id}"
        raise ConfigurationError(setting=KEY_SETTING, why=why) from error


def _compare(owner: Owner, manifest: BackupManifest, *, step: Step) -> None:
    prepare_texts(owner, tenant_id=None)
    tables = {table.name: table for table in list_copied_tables(owner)}
    wrong = []
    for saved in manifest.tables:
        table = tables[saved.name]._replace(columns=saved.columns)
        rows, text = digest_table(owner, table, tenant_id=None, step=step)
        if (rows, text.bytes, text.sha256) != (saved.rows, saved.bytes, saved.sha256):
            wrong.append(f"{saved.name} ({rows} rows of {saved.rows})")
    if wrong:
        why = f"restored into a scratch database, rows are others than those backed up: {', '.join(wrong)}"
        raise BackupDamagedError(backup_id=manifest.id, why=why)


def _require_known_schema(manifest: BackupManifest) -> None:
    if manifest.schema_revision > SCHEMA_VERSION:
        raise SchemaVersionError(
            found=f"{manifest.schema_revision} in backup {manifest.id}",
            wanted=SCHEMA_VERSION,
            remedy="install the version of Mnestic that made it, or a newer one",
        )
