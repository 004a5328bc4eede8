"""Backups of a tenant's memory, or of all tenants: create, list, verify and restore.

It needs the owner of the tables and a folder, and no Temporal.
"""

import asyncio
import logging
import threading
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex
from typing import TypeVar

from mnestic.memory.errors import ConfigurationError, InvalidInputError, MnesticError, NotFoundError
from mnestic.memory.maintenance.backups import (
    Backup,
    RestoreResult,
    check_backup_id,
    new_backup_id,
    surplus,
)
from mnestic.memory.maintenance.ports import BackupCopies
from mnestic.memory.scope import check_id
from mnestic.starter.checked_texts import ChecksTexts
from mnestic.starter.maintenance.backup_settings import (
    BackupOptions,
    find_backup_directory,
    open_bucket,
    read_backup_options,
)
from mnestic.starter.memory_wiring import find_database
from mnestic.starter.settings import Settings, environment_name
from mnestic.stores.postgres.jobs.record_indexes import index_records
from mnestic.stores.postgres.maintenance.backup_creation import count_rows, create_backup
from mnestic.stores.postgres.maintenance.backup_files import Step
from mnestic.stores.postgres.maintenance.backup_folder import BackupFolder
from mnestic.stores.postgres.maintenance.backup_restore import restore_rows
from mnestic.stores.postgres.maintenance.backup_verification import at_this_schema, verify_backup
from mnestic.stores.postgres.retrieval.vector_indexes import index_vectors

Result = TypeVar("Result")
OnTable = Callable[[str], None]
"""Gets the name of each table when its turn comes."""
log = logging.getLogger("mnestic.maintenance")


class BackupClient(ChecksTexts):
    """The backups of a tenant in a folder; with `all_tenants`, those of the whole database."""

    def __init__(
        self,
        admin_url: str,
        directory: Path | None,
        *,
        tenant_id: str,
        options: BackupOptions | None = None,
        on_table: OnTable | None = None,
    ) -> None:
        """Names the database and the folder.

        Args:
            admin_url: Of the owner of the tables.
            directory: The folder; it is made when the first backup is.
            tenant_id: The tenant.
            options: Of encryption and copies.
            on_table: Is called in another thread.

        Raises:
            ConfigurationError: there is no folder.
            InvalidInputError: the tenant is no id.
        """
        if directory is None:
            why = "is not set, so there is no folder for backups; set it"
            raise ConfigurationError(setting=environment_name("backup_directory"), why=why)
        options = options or BackupOptions()
        self._admin_url, self._folder = admin_url, BackupFolder(directory, key=options.key)
        self._copies: list[BackupCopies] = []
        if options.copy_directory is not None:
            name = environment_name("backup_copy_directory")
            self._copies.append(BackupFolder(options.copy_directory, setting=name))
        self._bucket = open_bucket(options.bucket)
        if self._bucket is not None:
            self._copies.append(self._bucket)
        self._tenant_id = check_id(tenant_id, what="tenant")
        self._on_table = on_table

    async def create(self, *, all_tenants: bool = False, backup_id: str | None = None) -> Backup:
        """Backs up the tenant as it is at this moment; nobody waits for it.

        Args:
            all_tenants: Whether all tenants are backed up.
            backup_id: Its id; if there is a backup of that id, it is returned. By default a new one.

        Raises:
            InvalidInputError: that can be no id.
            UnavailableError: Postgres does not answer, or another process works in the folder.
            ConfigurationError: the folder cannot be written, or the role may not see what it is to copy.
            SchemaVersionError: the tables are not there.
        """
        tenant_id = None if all_tenants else self._tenant_id
        if backup_id is None:
            backup_id = new_backup_id(datetime.now(UTC), run=token_hex())
        name = check_backup_id(backup_id)
        return await self._run(lambda step: self._create(name, tenant_id=tenant_id, step=step))

    async def prune(self, *, keep: int, all_tenants: bool = False) -> int:
        """Removes backups of the tenant, but for the newest and, of those that were verified, the newest.

        Args:
            keep: How many of the newest remain, at least 1.
            all_tenants: Whether it is backups of the whole database.

        Returns:
            How many were removed.

        Raises:
            InvalidInputError: `keep` is less than 1.
            UnavailableError: another process works in the folder.
            ConfigurationError: the folder cannot be written.
        """
        if keep < 1:
            raise InvalidInputError(what="keep", why=f"is {keep}; at least one backup remains")
        tenant_id = None if all_tenants else self._tenant_id
        return await asyncio.to_thread(self._prune, tenant_id, keep=keep)

    async def count_rows(self) -> dict[str, int]:
        """The number of rows of each table that a backup of the tenant would have now.

        Raises:
            DatabaseUnavailableError: Postgres does not answer.
            ConfigurationError: the role may not do it.
            SchemaVersionError: the tables are not there.
        """
        return await asyncio.to_thread(count_rows, self._admin_url, tenant_id=self._tenant_id)

    async def list(self, *, all_tenants: bool = False) -> tuple[Backup, ...]:
        """The complete backups from which the tenant can be restored, the newest first.

        Args:
            all_tenants: Whether those of other tenants are listed too.

        Raises:
            ConfigurationError: the folder cannot be read.
        """
        found = await asyncio.to_thread(self._folder.list)
        return tuple(one for one in found if all_tenants or one.manifest.holds(self._tenant_id))

    async def fetch(self, backup_id: str) -> Backup:
        """Copies a backup from the bucket into the folder, from which it can be restored; one that is there stays.

        Raises:
            ConfigurationError: there is no bucket, or the folder cannot be written.
            NotFoundError: the bucket has no such backup of the tenant.
            UnavailableError: the bucket does not answer, or another process works in the folder.
        """
        if self._bucket is None:
            why = "is not set, so there is no bucket to fetch a backup from; set it"
            raise ConfigurationError(setting=environment_name("backup_bucket"), why=why)
        await asyncio.to_thread(self._folder.copy_from, self._bucket, check_backup_id(backup_id))
        return self._get(backup_id, tenant_id=self._tenant_id)

    async def verify(self, backup_id: str, *, all_tenants: bool = False) -> Backup:
        """Restores a backup into a scratch database and compares the checksums of all tables.

        Args:
            backup_id: The backup.
            all_tenants: Whether it may be one of other tenants.

        Raises:
            NotFoundError: there is no such backup.
            BackupDamagedError: it is not what was backed up.
            UnavailableError: Postgres does not answer, or another process works in the folder.
            ConfigurationError: the role may not create databases.
            SchemaVersionError: it is of a newer schema than this version's.
        """
        return await self._run(
            lambda step: self._verify(
                backup_id, tenant_id=None if all_tenants else self._tenant_id, step=step
            )
        )

    async def restore(
        self, backup_id: str, *, replace: bool = False, all_tenants: bool = False
    ) -> RestoreResult:
        """Puts a backup in place of the tenant's memory, in one transaction; no process answers from its caches after it.

        Args:
            backup_id: The backup, of this tenant or of the whole database.
            replace: Whether memory that is there may be replaced.
            all_tenants: Whether all tenants are restored, in place of all that there are.

        Raises:
            NotFoundError: there is no such backup.
            MemoryExistsError: there is memory, and it may not be replaced.
            BackupDamagedError: a file is not what was backed up; nothing has changed.
            UnavailableError: Postgres does not answer, or another process works in the folder.
            SchemaVersionError: the backup is of a newer schema than this version's, or the database of another.
            ConfigurationError: the role may not do it.
        """
        result = await self._run(
            lambda step: self._restore(
                backup_id,
                tenant_id=None if all_tenants else self._tenant_id,
                replace=replace,
                step=step,
            )
        )
        log.info("a backup was restored", extra={"backup": backup_id, "rows": result.rows})
        return result

    def _create(self, name: str, *, tenant_id: str | None, step: Step) -> Backup:
        with self._folder.locked():
            try:
                backup = self._folder.get(name)
            except NotFoundError:
                manifest = create_backup(
                    self._admin_url, self._folder, name, tenant_id=tenant_id, step=step
                )
                backup = Backup(manifest=manifest)
            for copies in self._copies:
                copies.copy_from(self._folder, name)
        return backup

    def _prune(self, tenant_id: str | None, *, keep: int) -> int:
        with self._folder.locked():
            alike = [one for one in self._folder.list() if one.manifest.tenant_id == tenant_id]
            removed = surplus(alike, keep=keep)
            for name in removed:
                self._folder.remove(name)
        for copies in self._copies:
            copies.remove_copies(removed)
        return len(removed)

    def _verify(self, name: str, *, tenant_id: str | None, step: Step) -> Backup:
        with self._folder.locked():
            manifest = self._get(name, tenant_id=tenant_id).manifest
            verify_backup(self._admin_url, self._folder, manifest, step=step)
            self._folder.note_verified(manifest, at=datetime.now(UTC))
            return self._folder.get(name)

    def _restore(
        self, name: str, *, tenant_id: str | None, replace: bool, step: Step
    ) -> RestoreResult:
        with self._folder.locked():
            manifest = self._get(name, tenant_id=tenant_id).manifest
            if tenant_id is None and manifest.tenant_id is not None:
                why = "is of one tenant, so it cannot restore all of them; leave out --all-tenants"
                raise InvalidInputError(what=f"backup {name}", why=why)
            with at_this_schema(self._admin_url, self._folder, manifest, step=step) as (
                same,
                files,
            ):
                restored = restore_rows(
                    self._admin_url, same, files, tenant_id=tenant_id, replace=replace, step=step
                )
        tenants = manifest.tenants if tenant_id is None else (tenant_id,)
        built, problems = self._index(tenants)
        return RestoreResult(
            backup_id=name,
            tenants=tenants,
            rows=restored.rows,
            forgotten_since=restored.forgotten_since,
            vector_indexes=built,
            problems=problems,
        )

    def _get(self, name: str, *, tenant_id: str | None) -> Backup:
        """A backup, if the tenant can be restored from it.

        Raises:
            NotFoundError: there is none.
        """
        of = "" if tenant_id is None else f" of tenant {tenant_id}"
        missing = NotFoundError(what=f"backup{of} in {self._folder.path}", name=name)
        try:
            found = self._folder.get(name)
        except NotFoundError:
            raise missing from None
        if tenant_id is not None and not found.manifest.holds(tenant_id):
            raise missing
        return found

    def _index(self, tenants: Sequence[str]) -> tuple[int, tuple[str, ...]]:
        """Builds the indexes of vectors and records that are lacking; returns how many, and what could not be done."""
        built, problems = 0, []
        for tenant_id in tenants:
            try:
                built += len(index_vectors(self._admin_url, tenant_id).built)
                built += len(index_records(self._admin_url, tenant_id).built)
            except MnesticError as error:  # nightly maintenance builds them
                problems.append(f"indexes of {tenant_id}: {error}")
        return built, tuple(problems)

    async def _run(self, work: Callable[[Step], Result]) -> Result:
        """Works in a thread, which ends soon after nobody waits for it any more."""
        steps = _Steps(self._on_table)
        try:
            return await asyncio.to_thread(work, steps)
        finally:
            steps.end()


class _Steps:
    """Reports each table once, and ends the work when it is told to."""

    def __init__(self, on_table: OnTable | None) -> None:
        self._on_table, self._table, self._is_over = on_table, "", threading.Event()

    def __call__(self, table: str) -> None:
        if self._is_over.is_set():
            raise asyncio.CancelledError
        if table != self._table and self._on_table is not None:
            self._on_table(table)
        self._table = table

    def end(self) -> None:
        """Has the next step end the work."""
        self._is_over.set()


def open_backups(settings: Settings, *, on_table: OnTable | None = None) -> BackupClient:
    """The backups of the database that settings name, in their folder, or of the embedded runtime beside its data directory.

    Raises:
        ConfigurationError: they name no folder, and the database is not the embedded one; or the key cannot be read.
        UnavailableError: they name no database, and no runtime is up.
    """
    _, admin_url = find_database(settings)
    return BackupClient(
        admin_url.get_secret_value(),
        find_backup_directory(settings),
        tenant_id=settings.tenant_id,
        options=read_backup_options(settings),
        on_table=on_table,
    )
