"""`mnestic backup`: back up memory, list and verify backups, and restore from one."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from mnestic.starter.cli.output import (
    AsJson,
    counted,
    err,
    out,
    print_json,
    print_table,
    print_warning,
    run,
)
from mnestic.starter.cli.overrides import command_settings

if TYPE_CHECKING:
    from mnestic.memory.maintenance.backups import Backup, RestoreResult
    from mnestic.starter.maintenance.backup_client import BackupClient

app = typer.Typer(
    help="Back up memory into a folder, verify backups, and restore from them.",
    no_args_is_help=True,
)
Directory = Annotated[
    Path | None,
    typer.Option(
        help="Folder of backups; default: MNESTIC_BACKUP_DIRECTORY, or beside the data of the embedded runtime."
    ),
]
Id = Annotated[
    str, typer.Argument(metavar="ID", help="The backup, as `mnestic backup list` has it.")
]
Result = TypeVar("Result")


@app.command()
def create(
    all_tenants: Annotated[
        bool, typer.Option("--all-tenants", help="Back up all tenants, not only the one in force.")
    ] = False,
    verify: Annotated[
        bool, typer.Option("--verify", help="Verify it by restoring it into a scratch database.")
    ] = False,
    keep: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Then remove older backups, but for so many and the newest that was verified.",
        ),
    ] = None,
    directory: Directory = None,
    as_json: AsJson = False,
) -> None:
    """Back up memory as it is at this moment; nobody waits for it."""

    async def work(backups: "BackupClient") -> "tuple[Backup, int]":
        made = await backups.create(all_tenants=all_tenants)
        if verify:
            made = await backups.verify(made.manifest.id, all_tenants=all_tenants)
        removed = await backups.prune(keep=keep, all_tenants=all_tenants) if keep else 0
        return made, removed

    from mnestic.starter.maintenance.backup_settings import find_backup_directory, shares_disk

    made, removed = _with_backups(work, directory, doing="Backing up")
    settings = command_settings(backup_directory=directory)
    if shares_disk(settings):
        where = find_backup_directory(settings)
        print_warning(f"{where} is on the same disk as the data, and would be lost with it")
    if as_json:
        print_json(_document(made) | {"removed": removed})
        return
    _print_backup(made)
    if removed:
        out.print(f"{counted(removed, 'older backups')} removed.")


@app.command("list")
def list_(
    all_tenants: Annotated[
        bool, typer.Option("--all-tenants", help="List those of all tenants.")
    ] = False,
    directory: Directory = None,
    as_json: AsJson = False,
) -> None:
    """List the complete backups that hold the tenant, the newest first."""

    async def work(backups: "BackupClient") -> "tuple[Backup, ...]":
        return await backups.list(all_tenants=all_tenants)

    found = _with_backups(work, directory)
    if as_json:
        print_json({"backups": [_document(one) for one in found]})
        return
    rows = [
        (
            one.manifest.id,
            f"{one.manifest.created_at:%Y-%m-%d %H:%M}",
            one.manifest.tenant_id or "all",
            one.manifest.schema_revision,
            one.manifest.rows,
            _size(one.manifest.bytes),
            f"{one.verified_at:%Y-%m-%d %H:%M}" if one.verified_at else "no",
        )
        for one in found
    ]
    columns = ("id", "created", "tenant", "schema", "rows", "size", "verified")
    print_table(columns, rows, empty="There are no backups.")


@app.command()
def fetch(backup_id: Id, directory: Directory = None, as_json: AsJson = False) -> None:
    """Copy a backup from the bucket (MNESTIC_BACKUP_BUCKET) into the folder."""

    async def work(backups: "BackupClient") -> "Backup":
        return await backups.fetch(backup_id)

    fetched = _with_backups(work, directory)
    if as_json:
        print_json(_document(fetched))
    else:
        _print_backup(fetched)


@app.command()
def verify(
    backup_id: Id,
    all_tenants: Annotated[
        bool, typer.Option("--all-tenants", help="It may be of other tenants.")
    ] = False,
    directory: Directory = None,
    as_json: AsJson = False,
) -> None:
    """Restore a backup into a scratch database, and compare the checksums of all tables."""

    async def work(backups: "BackupClient") -> "Backup":
        return await backups.verify(backup_id, all_tenants=all_tenants)

    verified = _with_backups(work, directory, doing="Verifying")
    if as_json:
        print_json(_document(verified))
    else:
        _print_backup(verified)


@app.command()
def restore(
    backup_id: Id,
    replace: Annotated[
        bool,
        typer.Option("--replace", help="Replace the memory that is there, in one transaction."),
    ] = False,
    all_tenants: Annotated[
        bool, typer.Option("--all-tenants", help="Restore all tenants, not only the one in force.")
    ] = False,
    directory: Directory = None,
    as_json: AsJson = False,
) -> None:
    """Restore the tenant's memory from a backup; if that fails, nothing has changed."""

    async def work(backups: "BackupClient") -> "RestoreResult":
        return await backups.restore(backup_id, replace=replace, all_tenants=all_tenants)

    restored = _with_backups(work, directory, doing="Restoring")
    if as_json:
        print_json(restored.model_dump(mode="json"))
    else:
        of = "all tenants" if all_tenants else f"tenant {restored.tenants[0]}"
        rows, indexes = counted(restored.rows, "rows"), restored.vector_indexes
        done = f"Restored {of} from {backup_id}: {rows}; indexes built: {indexes}."
        out.print(done, soft_wrap=True)
    for problem in restored.problems:
        print_warning(problem)
    print_warning("API keys are in no backup: those of this database stay as they are")
    if restored.forgotten_since:
        topics = counted(restored.forgotten_since, "topics")
        print_warning(f"what was forgotten since this backup is back ({topics}); forget it again")


def _with_backups(
    work: "Callable[[BackupClient], Awaitable[Result]]",
    directory: Path | None,
    *,
    doing: str | None = None,
) -> Result:
    """Works with the backups; on a terminal the table that is copied is shown."""
    from mnestic.starter.maintenance.backup_client import open_backups

    settings = command_settings(backup_directory=directory)

    async def working() -> Result:
        if doing is None:
            return await work(open_backups(settings))
        with err.status(f"{doing} …") as status:

            def show(table: str) -> None:
                status.update(f"{doing}: {table} …")

            return await work(open_backups(settings, on_table=show))

    return run(working())


def _document(backup: "Backup") -> dict[str, Any]:
    manifest = backup.manifest
    return {
        **manifest.model_dump(mode="json", exclude={"tables", "sequences", "format"}),
        "tables": {table.name: table.rows for table in manifest.tables},
        "rows": manifest.rows,
        "bytes": manifest.bytes,
        "verified_at": backup.verified_at,
    }


def _print_backup(backup: "Backup") -> None:
    manifest = backup.manifest
    of = f"tenant {manifest.tenant_id}" if manifest.tenant_id else "all tenants"
    verified = ", verified" if backup.verified_at else ""
    rows, tables = counted(manifest.rows, "rows"), counted(len(manifest.tables), "tables")
    size = _size(manifest.bytes)
    out.print(f"{manifest.id}: {of}, {rows} of {tables}, {size}{verified}.", soft_wrap=True)


def _size(number: int) -> str:
    return f"{number / 2**10:,.1f} KiB"
