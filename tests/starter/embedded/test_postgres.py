"""The cluster: whole or absent, on a short private socket, and on no network."""

import stat
from pathlib import Path

import psutil
import psycopg
import pytest

from mnestic.memory.errors import DatabaseUnavailableError
from mnestic.starter.embedded.postgres import start_postgres
from mnestic.starter.embedded.process_group import ProcessGroup


@pytest.mark.acceptance
async def test_after_an_interrupted_start_one_server_listens_on_a_private_socket_only(
    tmp_path: Path, processes: ProcessGroup
) -> None:
    draft = tmp_path / "postgres.new"
    draft.mkdir()
    (draft / "PG_VERSION").write_text("half", encoding="ascii")

    await start_postgres(tmp_path, processes)
    (unrecorded,) = processes.marks
    _, address = await start_postgres(tmp_path, processes)

    listening = [
        connection
        for mark in processes.marks
        for connection in psutil.Process(mark.pid).net_connections("inet")
    ]
    where = f"host={address.socket_dir}&port=5432"
    assert not draft.exists()
    assert address.app_url == f"postgresql://mnestic_app@/mnestic?{where}"
    assert stat.S_IMODE(address.socket_dir.stat().st_mode) == 0o700
    assert listening == []
    assert unrecorded.find() is None
    assert len(processes.marks) == 1


@pytest.mark.acceptance
async def test_a_deep_data_directory_gets_a_short_socket_elsewhere(
    tmp_path: Path, processes: ProcessGroup
) -> None:
    deep = tmp_path / ("d" * 90)
    deep.mkdir()

    _, address = await start_postgres(deep, processes)

    with psycopg.connect(address.admin_url) as connection:
        row = connection.execute("SELECT current_database(), current_user").fetchone()
        connection.execute("CREATE TEMPORARY TABLE kept (secret text PRIMARY KEY)")
        with pytest.raises(psycopg.errors.UniqueViolation, match="Rosenweg"):
            connection.execute(
                "INSERT INTO kept SELECT %s FROM generate_series(1, 2)", ["Rosenweg 3"]
            )
    logged = (deep / "logs" / "postgres.log").read_text("utf-8")
    assert "duplicate key" in logged
    assert "Rosenweg" not in logged
    assert row == ("mnestic", "postgres")
    assert not address.socket_dir.is_relative_to(tmp_path)
    await processes.stop()
    address.socket_dir.rmdir()


async def test_a_cluster_of_another_version_is_refused(
    tmp_path: Path, processes: ProcessGroup
) -> None:
    cluster = tmp_path / "postgres"
    cluster.mkdir()
    (cluster / "PG_VERSION").write_text("16\n", encoding="ascii")

    with pytest.raises(DatabaseUnavailableError, match="made by Postgres 16, this is 18"):
        await start_postgres(tmp_path, processes)
