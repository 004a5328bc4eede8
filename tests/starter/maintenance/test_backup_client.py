"""Backups: what is restored is what was there, of the tenant that is meant, and in one piece or not at all."""

import asyncio
import shutil
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest

from mnestic.memory.errors import (
    ConfigurationError,
    InvalidInputError,
    MemoryExistsError,
    NotFoundError,
    UnavailableError,
)
from mnestic.starter.maintenance.backup_client import BackupClient
from mnestic.starter.maintenance.backup_settings import BackupOptions
from mnestic.stores.postgres.maintenance import backup_restore
from tests.activities.locks import until_held_up
from tests.starter.maintenance.conftest import NOON, Place, rows_of


async def test_memory_goes_on_after_the_numbers_that_were_restored(
    place: Place, new_database: Callable[[], AbstractContextManager[str]]
) -> None:
    await place.fill()
    backup = await place.backups().create(all_tenants=True)

    with new_database() as url:
        there = place.at(url)
        await there.backups().restore(backup.manifest.id, all_tenants=True)
        same = rows_of(url, None) == place.rows(None)
        added = await there.memory_of().add("The ferry leaves at ten.")
        found = await there.memory_of().retrieve("When does the ferry leave?")

    assert same
    assert found.results[0].entry.id == added.id


async def test_of_two_tenants_one_is_restored_and_the_other_stays(place: Place) -> None:
    for tenant in ("ours", "ours-too", "theirs"):
        await place.fill(tenant)
    before = place.rows()
    backup = await place.backups().create(all_tenants=True)
    for tenant in ("ours", "theirs"):
        await place.memory_of(tenant).add("Something new.")
    others = {tenant: place.rows(tenant) for tenant in ("ours-too", "theirs")}

    restored = await place.backups().restore(backup.manifest.id, replace=True)

    assert restored.tenants == ("ours",)
    assert backup.manifest.tenants == ("ours", "ours-too", "theirs")
    assert place.rows() == before
    assert {tenant: place.rows(tenant) for tenant in others} == others


async def test_a_target_with_memory_is_refused_and_one_that_was_only_read_is_empty(
    place: Place,
) -> None:
    await place.fill()
    before = place.rows()
    of_all = await place.backups().create(all_tenants=True)
    backup = await place.backups().create()
    await place.memory_of("theirs").add("Ours is empty.")

    with pytest.raises(MemoryExistsError, match=r"tenant ours has memory.*--replace"):
        await place.backups().restore(backup.manifest.id)
    with pytest.raises(MemoryExistsError, match="the database has memory"):
        await place.backups().restore(of_all.manifest.id, all_tenants=True)
    same = place.rows() == before
    place.empty("ours")
    await place.memory_of().retrieve("Where does Mara live?")  # which leaves an audit row
    await place.backups().restore(backup.manifest.id)

    assert same
    assert place.rows() == before


async def test_after_a_restore_the_same_process_answers_from_what_was_restored(
    place: Place,
) -> None:
    """The revision that was cached comes again, with another memory."""
    ada = place.memory_of()
    await ada.add("The boiler was serviced in March.", at=NOON)
    backup = await place.backups().create()
    await ada.add("The ferry to Texel leaves at nine.", at=NOON)
    answers = []

    async def ask() -> None:
        found = await ada.retrieve("When does the ferry leave?", asked_at=NOON, is_access=False)
        answers.append([each.entry.content for each in found.results])

    await ask()
    await place.backups().restore(backup.manifest.id, replace=True)
    await ask()
    await place.backups().restore(backup.manifest.id, replace=True)
    await ada.add("The ferry to Texel leaves at noon.", at=NOON)
    await ask()

    assert answers == [
        ["The ferry to Texel leaves at nine."],
        [],
        ["The ferry to Texel leaves at noon."],
    ]
    assert place.memory.cache_counts().answers.hits == 0


async def test_a_backup_is_of_one_moment_and_nobody_waits_for_it(place: Place) -> None:
    await place.fill()
    before = place.rows()
    with psycopg.connect(place.url) as other:
        other.execute("LOCK TABLE mnestic.working_memory IN ACCESS EXCLUSIVE MODE")
        backing_up = asyncio.create_task(place.backups().create())
        await until_held_up(place.url)
        await place.memory_of().add("Written in the middle of the backup.")

    backup = await backing_up
    await place.backups().restore(backup.manifest.id, replace=True)

    assert place.rows() == before


async def test_the_topics_forgotten_since_are_counted_as_they_are_back(place: Place) -> None:
    await place.fill()
    backup = await place.backups().create()
    place.run(
        "INSERT INTO mnestic.forgetting (tenant_id, agent_id, id, actor, requested_at, finished_at)"
        " VALUES ('ours', 'ada', 'f', 'test', now(), now()), ('theirs', 'ada', 'f', 'test', now(), now())"
    )

    restored = await place.backups().restore(backup.manifest.id, replace=True)

    assert restored.forgotten_since == 1


async def test_backups_of_others_are_not_found(place: Place) -> None:
    await place.fill("theirs")
    theirs = await place.backups("theirs").create()
    of_all = await place.backups().create(all_tenants=True)

    assert await place.backups().list() == ()
    assert await place.backups().list(all_tenants=True) == (of_all, theirs)
    assert await place.backups("theirs").list() == (of_all, theirs)
    for call in (place.backups().verify, place.backups().restore):
        for backup in (theirs, of_all):
            with pytest.raises(NotFoundError, match="no backup of tenant ours"):
                await call(backup.manifest.id)
    with pytest.raises(InvalidInputError, match=r"of one tenant.*leave out --all-tenants"):
        await place.backups().restore(theirs.manifest.id, all_tenants=True)


@pytest.mark.parametrize("name", ["", "../ours", "20260301T120000Z-0123456g", "x" * 5000])
async def test_what_can_be_no_backup_is_refused(place: Place, name: str) -> None:
    with pytest.raises(InvalidInputError, match="backup"):
        await place.backups().restore(name)
    with pytest.raises(InvalidInputError, match="backup"):
        await place.backups().verify(name)
    with pytest.raises(NotFoundError, match="no backup of tenant ours in"):
        await place.backups().verify("20260301T120000Z-01234567")
    assert await place.backups().list() == ()


async def test_the_newest_and_the_newest_verified_remain(place: Place) -> None:
    backups = place.backups()
    made = [(await backups.create()).manifest.id for _ in range(4)]
    other = await place.backups("theirs").create()
    of_all = await backups.create(all_tenants=True)
    for name in made[:2]:
        await backups.verify(name)

    removed = await backups.prune(keep=1)

    left = {one.manifest.id for one in await backups.list(all_tenants=True)}
    assert removed == 2
    assert left == {made[1], made[3], other.manifest.id, of_all.manifest.id}
    with pytest.raises(InvalidInputError, match="keep: is 0"):
        await backups.prune(keep=0)


async def test_while_a_tenant_is_restored_others_search_and_writes_wait(place: Place) -> None:
    await place.fill()
    await place.fill("theirs")
    backup = await place.backups().create()
    await place.memory_of().add("The boiler was serviced in March.", at=NOON)
    stands, go_on = threading.Event(), threading.Event()

    def on_table(name: str) -> None:
        if name == "working_memory":
            stands.set()
            assert go_on.wait(30)

    client = BackupClient(place.url, place.folder, tenant_id="ours", on_table=on_table)
    restoring = asyncio.create_task(client.restore(backup.manifest.id, replace=True))
    await asyncio.to_thread(stands.wait, 30)
    meanwhile = await place.memory_of().retrieve("When was the boiler serviced?", asked_at=NOON)
    writing = asyncio.create_task(place.memory_of("theirs").add("Written meanwhile."))
    await until_held_up(place.url)
    searching = asyncio.create_task(place.memory_of("theirs").retrieve("Where does Mara live?"))
    theirs = await asyncio.wait_for(searching, 20)
    go_on.set()

    await restoring
    added = await writing
    after = await place.memory_of().retrieve("When was the boiler serviced?", asked_at=NOON)
    assert [one.entry.content for one in meanwhile.results] == ["The boiler was serviced in March."]
    assert theirs.results
    assert added.id in place.rows("theirs")["entry"].decode()
    assert after.results == ()


async def test_a_restore_that_cannot_have_the_tables_does_not_begin(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    await place.fill()
    backup = await place.backups().create()
    before = place.rows()
    monkeypatch.setattr(backup_restore, "_LOCK_LIMIT", timedelta(seconds=1))
    with psycopg.connect(place.url) as other:
        other.execute("INSERT INTO mnestic.setting SELECT * FROM mnestic.setting WHERE false")

        with pytest.raises(UnavailableError, match="others write to memory for too long"):
            await place.backups().restore(backup.manifest.id, replace=True)

    assert place.rows() == before


async def test_an_address_of_sqlalchemy_is_one_too_and_no_address_is_refused(place: Place) -> None:
    address = place.url.replace("postgresql://", "postgresql+psycopg://")
    backups = BackupClient(address, place.folder, tenant_id="ours")

    backup = await backups.create()
    verified = await backups.verify(backup.manifest.id)
    restored = await backups.restore(backup.manifest.id)

    assert verified.verified_at is not None
    assert restored.problems == ()
    with pytest.raises(ConfigurationError, match="must look like postgresql://"):
        await BackupClient("nonsense", place.folder, tenant_id="ours").create()


async def test_each_backup_is_copied_to_a_second_folder_from_which_it_is_restored(
    place: Place, tmp_path: Path
) -> None:
    await place.fill()
    before = place.rows()
    copies = tmp_path / "copies"
    options = BackupOptions(copy_directory=copies)
    backups = BackupClient(place.url, place.folder, tenant_id="ours", options=options)
    first = (await backups.create()).manifest.id
    last = (await backups.create()).manifest.id
    shutil.rmtree(copies / last)

    again = (await backups.create(backup_id=last)).manifest.id  # as another attempt does
    both = {path.name for path in copies.iterdir() if not path.name.startswith(".")}
    await backups.prune(keep=1)
    left = {path.name for path in copies.iterdir() if not path.name.startswith(".")}
    shutil.rmtree(place.folder)
    place.empty("ours")
    await BackupClient(place.url, copies, tenant_id="ours").restore(last)

    assert (again, both, left) == (last, {first, last}, {last})
    assert {name: rows for name, rows in place.rows().items() if rows != before[name]} == {}


async def test_a_second_folder_that_cannot_be_written_fails_the_backup_by_its_name(
    place: Place, tmp_path: Path
) -> None:
    await place.fill()
    (tmp_path / "copies").write_text("a file", encoding="utf-8")
    options = BackupOptions(copy_directory=tmp_path / "copies")
    backups = BackupClient(place.url, place.folder, tenant_id="ours", options=options)

    with pytest.raises(ConfigurationError, match="MNESTIC_BACKUP_COPY_DIRECTORY"):
        await backups.create()
