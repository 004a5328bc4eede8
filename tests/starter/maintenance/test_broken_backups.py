"""What goes wrong with backups: damaged files, killed processes, full disks, other schemas; memory stays as it was."""

import asyncio
import gzip
import hashlib
import json
import resource
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql
from sqlalchemy import create_engine
from sqlalchemy.pool import NullPool

from mnestic.memory.errors import (
    BackupDamagedError,
    ConfigurationError,
    InvalidInputError,
    SchemaVersionError,
    UnavailableError,
)
from mnestic.memory.maintenance.backups import BackupManifest
from mnestic.starter.maintenance.backup_client import BackupClient
from mnestic.stores.postgres.migration import upgrade
from tests.starter.maintenance.conftest import Place, databases

Damage = Callable[[Path], None]


def _flipped(folder: Path) -> None:
    file = folder / "entry.copy.gz"
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


def _missing(folder: Path) -> None:
    (folder / "setting.copy.gz").unlink()


def _no_manifest(folder: Path) -> None:
    (folder / "manifest.json").write_text("{", encoding="utf-8")


def _of_another(folder: Path) -> None:
    _change(folder, id="20260301T120000Z-01234567")


def _other_rows(folder: Path) -> None:
    """The files are whole, and the manifest counts another row."""
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    (table,) = [table for table in manifest["tables"] if table["name"] == "setting"]
    table["rows"] += 1
    _change(folder, tables=manifest["tables"])


def _change(folder: Path, **fields: Any) -> None:
    file = folder / "manifest.json"
    file.write_text(json.dumps(json.loads(file.read_text("utf-8")) | fields), encoding="utf-8")


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        (_flipped, r"entry\.copy\.gz is not the file that was written"),
        (_missing, r"setting\.copy\.gz cannot be read: No such file"),
        (_no_manifest, "its manifest cannot be read"),
        (_of_another, "its manifest is of backup"),
        (_other_rows, r"setting\.copy\.gz has 1 rows instead of 2"),
    ],
)
async def test_a_damaged_backup_restores_nothing(place: Place, damage: Damage, why: str) -> None:
    await place.fill()
    backup = (await place.backups().create()).manifest.id
    await place.memory_of().add("Something new.")
    before = place.rows()
    damage(place.folder / backup)

    for call in (place.backups().restore(backup, replace=True), place.backups().verify(backup)):
        with pytest.raises(BackupDamagedError, match=f"{backup} is damaged: .*{why}"):
            await call

    assert place.rows() == before


async def test_rows_that_are_others_than_those_backed_up_are_found_by_verifying(
    place: Place,
) -> None:
    await place.fill()
    backup = await place.backups().create()
    verified = await place.backups().verify(backup.manifest.id)
    folder = place.folder / backup.manifest.id
    file = folder / "long_term_record.copy.gz"
    file.write_bytes(gzip.compress(gzip.decompress(file.read_bytes()).replace(b"notes", b"noted")))
    tables = json.loads((folder / "manifest.json").read_text("utf-8"))["tables"]
    for table in tables:
        if table["name"] == "long_term_record":
            table["file_bytes"] = file.stat().st_size
            table["file_sha256"] = hashlib.sha256(file.read_bytes()).hexdigest()
    _change(folder, tables=tables)

    with pytest.raises(BackupDamagedError, match=r"rows are others.*long_term_record \(1 rows"):
        await place.backups().verify(backup.manifest.id)

    (left,) = await place.backups().list()
    assert verified.verified_at is not None
    assert left.verified_at is None
    assert databases(place.url) == []


async def test_who_gives_up_ends_the_work(place: Place) -> None:
    await place.fill()
    reached, go_on = asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()

    def on_table(name: str) -> None:
        if name == "fact":
            loop.call_soon_threadsafe(reached.set)
            asyncio.run_coroutine_threadsafe(go_on.wait(), loop).result(30)

    client = BackupClient(place.url, place.folder, tenant_id="ours", on_table=on_table)
    backing_up = asyncio.create_task(client.create())
    await reached.wait()
    backing_up.cancel()
    with pytest.raises(asyncio.CancelledError):
        await backing_up
    with pytest.raises(UnavailableError, match="are in use: another backup"):
        await place.backups().create()
    go_on.set()

    async with asyncio.timeout(20):
        while any(place.folder.glob("*.partial")):  # noqa: ASYNC110 - a thread ends unseen
            await asyncio.sleep(0.02)
    assert await place.backups().list() == ()


async def test_a_full_disk_is_one_clear_error_and_leaves_nothing(place: Place) -> None:
    await place.fill()

    with files_of_at_most(1500), pytest.raises(ConfigurationError) as refused:
        await place.backups().create()

    assert str(refused.value) == (
        f"MNESTIC_BACKUP_DIRECTORY: {place.folder} cannot be used: File too large; make room or mend its rights, "
        "or name another folder"
    )
    assert [path.name for path in place.folder.iterdir()] == [".lock"]


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """Lets no file of this process grow larger, as a full disk would."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


async def test_a_backup_of_another_schema_or_format_is_refused_with_what_to_do(
    place: Place,
) -> None:
    backup = (await place.backups().create()).manifest.id
    newer = BackupManifest.model_validate_json(
        (place.folder / backup / "manifest.json").read_bytes()
    )

    _change(place.folder / backup, schema_revision="9999")
    for call in (place.backups().restore, place.backups().verify):
        with pytest.raises(SchemaVersionError, match=r"9999 in backup .* install the version"):
            await call(backup)
    _change(place.folder / backup, schema_revision="0039")
    with pytest.raises(SchemaVersionError, match=r"0039.*migrate it with commit 5d321d58"):
        await place.backups().restore(backup)
    _change(place.folder / backup, schema_revision=newer.schema_revision, format=3)
    with pytest.raises(InvalidInputError, match="has format 3, this version reads 2"):
        await place.backups().restore(backup)


@pytest.mark.acceptance
async def test_an_older_backup_is_migrated_on_its_way(place: Place, empty_url: str) -> None:
    engine = create_engine(
        "postgresql+psycopg://", creator=lambda: psycopg.connect(empty_url), poolclass=NullPool
    )
    with engine.begin() as connection:
        upgrade(connection, to="0006")
    with psycopg.connect(empty_url) as owner:
        owner.execute(
            "INSERT INTO mnestic.long_term_record (tenant_id, agent_id, namespace, key, version, value, created_at, updated_at)"
            " VALUES ('ours', 'ada', 'n', 'k', 3, '\"old\"', now(), now()), ('theirs', 'ada', 'n', 'k', 3, '1', now(), now())"
        )
        owner.execute(
            "INSERT INTO mnestic.agent_revision (tenant_id, agent_id, revision, updated_at)"
            " VALUES ('ours', 'ada', 3, now()), ('theirs', 'ada', 3, now())"
        )
    old = await place.at(empty_url).backups().create(all_tenants=True)

    verified = await place.backups().verify(old.manifest.id)
    restored = await place.backups().restore(old.manifest.id)

    record = await place.memory_of().records.get("n", "k")
    assert old.manifest.schema_revision == "0006"
    assert verified.verified_at is not None
    assert (record.value, record.version) == ("old", 3)
    assert restored.tenants == ("ours",)
    assert not any(place.rows("theirs").values())
    assert {path.name for path in place.folder.iterdir()} == {".lock", old.manifest.id}


@pytest.mark.acceptance
async def test_an_owner_whom_walls_hold_backs_up_and_restores_a_tenant(
    place: Place, new_database: Callable[[], AbstractContextManager[str]]
) -> None:
    await place.fill()
    before = place.rows()
    with new_database() as url, a_plain_owner(url) as plain:
        there = place.at(plain)
        restored = await there.backups().restore((await place.backups().create()).manifest.id)
        await place.at(url).fill("theirs")
        again = await there.backups().create()
        with pytest.raises(ConfigurationError, match=r"cannot see all tenants.*BYPASSRLS"):
            await there.backups().create(all_tenants=True)
        with pytest.raises(
            ConfigurationError, match=r"MNESTIC_DATABASE_ADMIN_URL: .*scratch database"
        ):
            await there.backups().verify(again.manifest.id)
        theirs = place.at(url).rows("theirs")
        await there.backups().restore(again.manifest.id, replace=True)

        assert restored.rows == sum(text.count(b"\n") for text in before.values())
        assert [table.rows for table in again.manifest.tables] == [
            text.count(b"\n") for text in before.values()
        ]
        assert place.at(url).rows() == before
        assert place.at(url).rows("theirs") == theirs
        assert walls_down(url) == 0


@contextmanager
def a_plain_owner(url: str) -> Iterator[str]:
    """The address of a role that owns the tables, and is no superuser."""
    role = f"owner_{abs(hash(url)) % 10**8}"
    name = sql.Identifier(role)
    with psycopg.connect(url, autocommit=True) as owner:
        owner.execute(sql.SQL("CREATE ROLE {} LOGIN CREATEDB IN ROLE mnestic_app").format(name))
        owner.execute(sql.SQL("ALTER SCHEMA mnestic OWNER TO {}").format(name))
        tables = owner.execute(
            "SELECT relname FROM pg_class WHERE relnamespace = 'mnestic'::regnamespace AND relkind = 'r'"
        ).fetchall()
        for (table,) in tables:
            change = sql.SQL("ALTER TABLE mnestic.{} OWNER TO {}")
            owner.execute(change.format(sql.Identifier(table), name))
        try:
            yield url.replace("postgres@", f"{role}@")
        finally:
            owner.execute(sql.SQL("REASSIGN OWNED BY {} TO CURRENT_USER").format(name))
            owner.execute(sql.SQL("DROP OWNED BY {}").format(name))
            owner.execute(sql.SQL("DROP ROLE {}").format(name))


def walls_down(url: str) -> int:
    """How many tables do not hold their owner to row-level security."""
    with psycopg.connect(url) as owner:
        row = owner.execute(
            "SELECT count(*) FROM pg_class WHERE relnamespace = 'mnestic'::regnamespace AND relkind = 'r'"
            " AND relname NOT IN ('alembic_version', 'tenant') AND NOT relforcerowsecurity"
        ).fetchone()
    assert row is not None
    return int(row[0])


async def test_the_list_leaves_out_what_cannot_be_read_and_says_so(
    place: Place, caplog: pytest.LogCaptureFixture
) -> None:
    broken, whole = [await place.backups().create() for _ in range(2)]
    (place.folder / "notes").mkdir()
    _no_manifest(place.folder / broken.manifest.id)

    found = await place.backups().list()

    assert found == (whole,)
    (record,) = caplog.records
    assert vars(record)["backup"] == broken.manifest.id
    assert "its manifest cannot be read" in vars(record)["why"]
