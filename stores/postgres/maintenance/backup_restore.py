"""Restoring: the rows of a backup in place of a tenant's, or of all, in one transaction."""

import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import NamedTuple

import psycopg
from psycopg import sql

from mnestic.memory.errors import BackupDamagedError, MemoryExistsError, UnavailableError
from mnestic.memory.maintenance.backups import BackupManifest
from mnestic.stores.postgres.maintenance.backup_files import BackupFiles, Step, read_rows
from mnestic.stores.postgres.maintenance.backup_tables import (
    CopiedTable,
    advance_sequences,
    copy_in,
    list_copied_tables,
    of_tenant,
    prepare_texts,
)
from mnestic.stores.postgres.maintenance.owner_sessions import Owner, owner_session, sees_all
from mnestic.stores.postgres.queries import fetch_rows, read_query
from mnestic.stores.postgres.schema import check_version

# What reading a memory and running maintenance write; a target that has nothing else counts as empty.
_RECORDS_OF_USE = frozenset({"agent_revision", "audit_log", "maintenance_run"})
_LOCK_LIMIT = timedelta(seconds=30)
_LOCK_ATTEMPT = read_query("backup_restore.set_lock_limit")
_NO_LIMIT = read_query("backup_restore.set_no_limit")
# A search ends by adding a row here, so that nobody who only reads waits for a restore.
_ADDED_TO_BY_READERS = frozenset({"audit_log"})
_VERSION = read_query("schema.find_version")
_SEND_AGAIN = read_query("backup_restore.send_again")
_FORGOTTEN_SINCE = read_query("backup_restore.count_forgotten")
# Every process caches answers under the identity of the database, of which this comment is a part
# (`sql/retrieval/resolve_terms.sql`): the restored revisions may repeat those before. Each search reads it together with the
# revision, so it sees both of before or both of after.
_NEW_IDENTITY = sql.SQL("COMMENT ON TABLE mnestic.agent_revision IS {}")


class RestoredRows(NamedTuple):
    """Rows that were restored, and topics that were forgotten after the backup, and so are back."""

    rows: int
    forgotten_since: int


def restore_rows(
    admin_url: str,
    manifest: BackupManifest,
    files: BackupFiles,
    *,
    tenant_id: str | None,
    replace: bool,
    step: Step,
) -> RestoredRows:
    """Puts the rows of a backup in place of those of a tenant, or of all tenants.

    Others read what was there until it is done, and wait with writes. If it fails, what was there stays.

    Args:
        admin_url: Of the owner of the tables.
        manifest: Of the backup, which is of this code's schema, and whose files were checked.
        files: Its files.
        tenant_id: The tenant, or None for all.
        replace: Whether what is there may be replaced.
        step: Is called again and again.

    Raises:
        MemoryExistsError: there is memory, and it may not be replaced.
        SchemaVersionError: the database is not of this code's schema.
        BackupDamagedError: the files do not have the rows of the manifest.
        UnavailableError: Postgres does not answer, or others write for too long.
        ConfigurationError: the role may not do it.
    """
    with owner_session(admin_url) as owner:
        with owner.transaction():
            tables = _open(owner, tenant_id=tenant_id)
            if not replace:
                _require_empty(owner, tables, tenant_id=tenant_id)
            at = manifest.created_at
            (forgotten,) = fetch_rows(owner, _FORGOTTEN_SINCE, since=at, of_tenant=tenant_id)
            with without_row_security(owner):
                for table in tables:
                    delete = sql.SQL("DELETE FROM {}{}")
                    owner.execute(delete.format(table.identifier, of_tenant(tenant_id)))
                rows = load_rows(owner, manifest, files, tenant_id=tenant_id, step=step)
                fetch_rows(owner, _SEND_AGAIN, of_tenant=tenant_id)
            identity = f"restored from backup {manifest.id}, as restore {uuid.uuid4().hex}"
            owner.execute(_NEW_IDENTITY.format(identity))
        for table in tables:  # what was replaced takes room, and plans follow what is there
            step(table.name)
            owner.execute(sql.SQL("VACUUM (ANALYZE) {}").format(table.identifier))
    return RestoredRows(rows, forgotten.topics)


def load_rows(
    owner: Owner, manifest: BackupManifest, files: BackupFiles, *, tenant_id: str | None, step: Step
) -> int:
    """Copies the rows of a backup into tables that have no such rows; returns how many.

    Args:
        owner: Within a transaction, in which row-level security does not hold for it.
        manifest: Of the backup.
        files: Its files.
        tenant_id: The tenant, or None for all that it has.
        step: Is called again and again.

    Raises:
        BackupDamagedError: the files do not have the rows of the manifest.
    """
    there = {table.name: table for table in list_copied_tables(owner)}
    only = tenant_id if manifest.tenant_id is None else None  # it may have other tenants too
    total = 0
    for saved in manifest.tables:
        table = there.get(saved.name)
        if table is None or set(table.columns) != set(saved.columns):
            why = f"its table {saved.name} is not that of schema {manifest.schema_revision}"
            raise BackupDamagedError(backup_id=manifest.id, why=why)
        copied = table._replace(columns=saved.columns)
        rows = _load(owner, copied, read_rows(files, saved, tenant_id=only), step=step)
        if only is None and rows != saved.rows:
            why = f"{saved.file} has {rows} rows instead of {saved.rows}"
            raise BackupDamagedError(backup_id=manifest.id, why=why)
        total += rows
    advance_sequences(owner, manifest.sequences)
    return total


@contextmanager
def without_row_security(owner: Owner) -> Iterator[None]:
    """Lets an owner whom row-level security holds copy rows, until the end of the block in a transaction.

    Nobody else sees a table without row-level security: they wait until the transaction has ended.
    """
    tables = () if sees_all(owner) else list_copied_tables(owner)
    for table in tables:
        lower = sql.SQL("ALTER TABLE {} NO FORCE ROW LEVEL SECURITY")
        owner.execute(lower.format(table.identifier))
    yield
    for table in tables:
        raise_again = sql.SQL("ALTER TABLE {} FORCE ROW LEVEL SECURITY")
        owner.execute(raise_again.format(table.identifier))


def _open(owner: Owner, *, tenant_id: str | None) -> tuple[CopiedTable, ...]:
    """The tables, which nobody else writes until the end of the transaction."""
    prepare_texts(owner, tenant_id=tenant_id)
    row = next(iter(fetch_rows(owner, _VERSION)), None)
    check_version(None if row is None else row.version_num)
    tables = list_copied_tables(owner)
    if sees_all(owner):
        locked = [table for table in tables if table.name not in _ADDED_TO_BY_READERS]
        _lock(owner, locked, mode=sql.SQL("SHARE ROW EXCLUSIVE"))
    else:  # row-level security of all tables is off
        _lock(owner, tables, mode=sql.SQL("ACCESS EXCLUSIVE"))
    return tables


def _lock(owner: Owner, tables: Sequence[CopiedTable], *, mode: sql.SQL) -> None:
    """Locks all tables or none, again and again, so that no writer who waits for one of them is ended."""
    names = sql.SQL(", ").join(table.identifier for table in tables)
    lock = sql.SQL("LOCK TABLE {} IN {} MODE").format(names, mode)
    until = time.monotonic() + _LOCK_LIMIT.total_seconds()
    fetch_rows(owner, _LOCK_ATTEMPT)
    while True:
        try:
            with owner.transaction():  # a savepoint, with which the locks of an attempt go
                owner.execute(lock)
        except psycopg.errors.LockNotAvailable:
            if time.monotonic() > until:
                why = "others write to memory for too long; try again when fewer write"
                raise UnavailableError(f"the restore has not begun: {why}") from None
        else:
            fetch_rows(owner, _NO_LIMIT)
            return


def _require_empty(owner: Owner, tables: tuple[CopiedTable, ...], *, tenant_id: str | None) -> None:
    for table in tables:
        if table.name in _RECORDS_OF_USE:
            continue
        find = sql.SQL("SELECT FROM {}{} LIMIT 1").format(table.identifier, of_tenant(tenant_id))
        if owner.execute(find).fetchone() is not None:
            where = "the database" if tenant_id is None else f"tenant {tenant_id}"
            raise MemoryExistsError(where=where)


def _load(owner: Owner, table: CopiedTable, rows: Iterator[bytes], *, step: Step) -> int:
    step(table.name)
    with owner.cursor() as cursor:
        with cursor.copy(copy_in(table)) as copy:
            for piece in rows:
                step(table.name)
                copy.write(piece)
        return cursor.rowcount
