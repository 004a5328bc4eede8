"""Backing up: all tables as they are at one moment, into a folder of their own."""

from datetime import datetime

from psycopg import IsolationLevel, sql

from mnestic.memory.errors import ConfigurationError
from mnestic.memory.maintenance.backups import ENCRYPTED_FORMAT, FORMAT, BackupManifest
from mnestic.stores.postgres.maintenance.backup_files import BackupFiles, Step, write_table
from mnestic.stores.postgres.maintenance.backup_folder import BackupFolder
from mnestic.stores.postgres.maintenance.backup_tables import (
    list_copied_tables,
    of_tenant,
    prepare_texts,
    read_sequences,
)
from mnestic.stores.postgres.maintenance.owner_sessions import (
    SETTING,
    Owner,
    owner_session,
    sees_all,
)
from mnestic.stores.postgres.queries import fetch_rows, read_query

_NOW = read_query("backup_creation.find_moment")
_TENANTS = read_query("backup_creation.list_tenants")


def create_backup(
    admin_url: str, folder: BackupFolder, backup_id: str, *, tenant_id: str | None, step: Step
) -> BackupManifest:
    """Backs up a tenant, or all; who reads and writes meanwhile waits for nothing.

    Args:
        admin_url: Of the owner of the tables.
        folder: Where backups are; this process has its lock.
        backup_id: Its name. A backup of this name that is there already is returned.
        tenant_id: The tenant, or None for all.
        step: Is called again and again.

    Raises:
        ConfigurationError: the folder cannot be written, or the role may not see all that it is to copy.
        DatabaseUnavailableError: Postgres does not answer.
        SchemaVersionError: the tables are not there.
    """
    with owner_session(admin_url) as owner, folder.staging(backup_id) as staging:
        owner.isolation_level, owner.read_only = IsolationLevel.REPEATABLE_READ, True
        if tenant_id is None:
            _require_all_tenants(owner)
        with owner.transaction():
            files = folder.new_files(staging, backup_id)
            manifest = copy_tables(owner, files, tenant_id=tenant_id, step=step)
        folder.complete(staging, manifest)
    return manifest


def count_rows(admin_url: str, *, tenant_id: str) -> dict[str, int]:
    """The number of rows of each table that a backup of a tenant would have.

    Raises:
        DatabaseUnavailableError: Postgres does not answer.
        SchemaVersionError: the tables are not there.
        ConfigurationError: the role may not do it.
    """
    with owner_session(admin_url) as owner:
        owner.isolation_level, owner.read_only = IsolationLevel.REPEATABLE_READ, True
        with owner.transaction():
            prepare_texts(owner, tenant_id=tenant_id)
            counts = {}
            for table in list_copied_tables(owner):
                count = sql.SQL("SELECT count(*) AS rows FROM {}{}")
                row = owner.execute(count.format(table.identifier, of_tenant(tenant_id))).fetchone()
                counts[table.name] = int(row.rows) if row is not None else 0
            return counts


def copy_tables(
    owner: Owner, files: BackupFiles, *, tenant_id: str | None, step: Step
) -> BackupManifest:
    """Copies the tables as they are at the beginning of a transaction into files, and describes them.

    Raises:
        OSError: the folder cannot be written.
    """
    prepare_texts(owner, tenant_id=tenant_id)
    (moment,) = fetch_rows(owner, _NOW)
    tenants = fetch_rows(owner, _TENANTS, of_tenant=tenant_id)
    tables = [
        write_table(owner, table, files, tenant_id=tenant_id, step=step)
        for table in list_copied_tables(owner)
    ]
    created_at: datetime = moment.now
    return BackupManifest(
        format=FORMAT if files.key is None else ENCRYPTED_FORMAT,
        id=files.backup_id,
        created_at=created_at,
        schema_revision=moment.revision,
        postgres_version=moment.postgres.partition(" ")[0],
        tenant_id=tenant_id,
        tenants=tuple(sorted(row.tenant_id for row in tenants)),
        tables=tuple(tables),
        # They are of no snapshot: read last, they are past every number in the tables.
        sequences=read_sequences(owner),
    )


def _require_all_tenants(owner: Owner) -> None:
    if not sees_all(owner):
        why = (
            "is of a role that row-level security holds, so it cannot see all tenants; name one with BYPASSRLS, "
            "or back up each tenant"
        )
        raise ConfigurationError(setting=SETTING, why=why)
