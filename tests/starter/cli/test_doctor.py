"""`mnestic doctor`: each part, and how to mend it."""

import json
import os
import time
import uuid
from pathlib import Path
from typing import Any

import psycopg
import pytest
from temporalio.worker import Worker

from mnestic.memory.names import maintenance_queue
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.rpc import find_pollers
from mnestic.starter.settings import Settings
from mnestic.stores.postgres.schema import migrate
from tests.starter.case_files import read_cases
from tests.starter.cli.conftest import Ask, Cli


def findings(done: Any, *, code: int) -> dict[str, Any]:
    """The checks by the name of their part, of a doctor that ended so."""
    assert done.code == code, done.err
    document = json.loads(done.out)
    assert document["ok"] is (code == 0)
    return {check["part"]: check for check in document["checks"]}


@pytest.mark.usefixtures("worker", "maintenance_worker")
async def test_all_is_well_where_all_is_up(ask: Ask) -> None:
    deadline = time.monotonic() + 30
    while (told := await ask("doctor")).code:
        assert time.monotonic() < deadline, told.out  # the worker's first poll is on its way
    checks = findings(await ask("doctor", "--json"), code=0)

    assert set(checks) == set(read_cases(__file__, "doctor_parts"))
    assert all(check["ok"] for check in checks.values())
    assert told.code == 0
    assert told.out.count("ok ") == len(checks)


@pytest.mark.usefixtures("worker")
async def test_a_worker_of_maintenance_that_may_take_no_more_activities_counts(
    ask: Ask, client: MnesticClient, settings: Settings
) -> None:
    queue = maintenance_queue(settings.task_queue)
    async with Worker(client.temporal, task_queue=queue, no_remote_activities=True):
        deadline = time.monotonic() + 30
        while not await find_pollers(client.temporal, queue):
            assert time.monotonic() < deadline  # its first poll is on its way
        doctor = json.loads((await ask("doctor", "--json")).out)

    checks = {check["part"]: check for check in doctor["checks"]}
    assert checks["maintenance workers"]["ok"]


@pytest.fixture
def modelled(cli: Cli, monkeypatch: pytest.MonkeyPatch, chat_server: Any) -> Cli:
    """Runs a command whose models are on the loopback server, which knows two."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-0123")
    monkeypatch.setenv("OPENAI_BASE_URL", chat_server.base_url)
    chat_server.sends({"object": "list", "data": [{"id": "gpt-5-mini"}, {"id": "reader"}]})
    return cli


def test_a_role_that_may_read_nothing_fails_only_what_it_may_not_read(
    wired: Cli, monkeypatch: pytest.MonkeyPatch, admin_url: str
) -> None:
    role = f"reader_{uuid.uuid4().hex[:8]}"
    with psycopg.connect(admin_url, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {role} LOGIN")
    monkeypatch.setenv("MNESTIC_DATABASE_URL", admin_url.replace("postgres@", f"{role}@"))

    checks = findings(wired("doctor", "--json"), code=1)

    with psycopg.connect(admin_url, autocommit=True) as connection:
        connection.execute(f"DROP ROLE {role}")
    assert checks["Postgres"]["ok"]
    assert checks["role"]["remedy"] == f"GRANT mnestic_app TO {role}"
    assert not checks["migrations"]["ok"]
    assert "permission denied" in checks["migrations"]["found"]
    assert "MNESTIC_DATABASE_URL" in checks["migrations"]["remedy"]


def test_what_is_down_is_named_with_its_remedy_and_hides_no_other_part(
    wired: Cli, monkeypatch: pytest.MonkeyPatch, closed_port: int
) -> None:
    with monkeypatch.context() as down:
        down.setenv("TEMPORAL_ADDRESS", f"127.0.0.1:{closed_port}")
        url = os.environ["MNESTIC_DATABASE_URL"].replace("postgresql:", "postgresql+psycopg:")
        down.setenv("MNESTIC_DATABASE_URL", url)  # as SQLAlchemy writes it
        of_temporal = findings(wired("doctor", "--json"), code=1)
    monkeypatch.setenv("MNESTIC_DATABASE_URL", f"postgresql://a:secret@127.0.0.1:{closed_port}/x")
    of_postgres = findings(wired("doctor", "--json"), code=1)

    assert (of_temporal["Temporal"]["ok"], of_temporal["Postgres"]["ok"]) == (False, True)
    assert "TEMPORAL_ADDRESS" in of_temporal["Temporal"]["remedy"]
    assert of_temporal["migrations"]["ok"]
    assert (of_postgres["Temporal"]["ok"], of_postgres["Postgres"]["ok"]) == (True, False)
    assert f"127.0.0.1:{closed_port}" in of_postgres["Postgres"]["found"]
    assert "MNESTIC_DATABASE_URL" in of_postgres["Postgres"]["remedy"]
    assert "secret" not in str(of_postgres)


def test_a_schema_that_is_older_or_newer_is_told_with_what_to_do(
    wired: Cli, monkeypatch: pytest.MonkeyPatch, empty_url: str
) -> None:
    monkeypatch.setenv("MNESTIC_DATABASE_URL", empty_url)
    missing = findings(wired("doctor", "--json"), code=1)
    migrate(empty_url)
    with psycopg.connect(empty_url) as connection:
        connection.execute("UPDATE mnestic.alembic_version SET version_num = '9999'")
    newer = findings(wired("doctor", "--json"), code=1)["migrations"]

    assert (missing["migrations"]["ok"], missing["pgvector"]["ok"]) == (False, False)
    assert missing["migrations"]["remedy"] == "mnestic migrate"
    assert (newer["ok"], newer["remedy"]) == (False, "install a newer Mnestic")
    assert "9999" in newer["found"]


def test_models_and_a_missing_runtime_are_told(
    modelled: Cli, monkeypatch: pytest.MonkeyPatch, chat_server: Any
) -> None:
    monkeypatch.setenv("MNESTIC_EXTRACTION_MODEL", "reader")
    known = findings(modelled("doctor", "--json"), code=1)
    monkeypatch.setenv("MNESTIC_EXTRACTION_MODEL", "none")
    without = findings(modelled("doctor", "--json"), code=1)["extraction"]

    assert (known["models"]["ok"], known["models"]["found"]) == (
        True,
        "the server knows gpt-5-mini, reader",
    )
    assert {request["path"] for request in chat_server.requests} == {"/v1/models"}
    assert (without["ok"], "no facts are extracted" in without["found"]) == (True, True)
    assert (known["runtime"]["ok"], known["runtime"]["remedy"]) == (False, "mnestic up")
    assert known["disk"]["ok"]


def test_a_model_that_cannot_be_asked_is_told(modelled: Cli, chat_server: Any) -> None:
    for status, body, why in (
        (401, {"error": {"message": "bad key sk-secret-0123"}}, "check the API key"),
        (200, {"data": [{"id": "other"}]}, "does not know it; it knows other"),
        (200, {"hello": "world"}, "check the base URL"),
        (503, {}, "does not answer"),
    ):
        chat_server.status = status
        chat_server.sends(body)

        checks = findings(modelled("doctor", "--json"), code=1)

        assert (checks["models"]["ok"], why in checks["models"]["found"]) == (False, True), why
        assert "OPENAI_API_KEY" in checks["models"]["remedy"]
        assert "sk-secret" not in str(checks)


def test_notes_and_a_data_directory_that_cannot_be_read_fail_their_own_checks_alone(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "Mara.md").write_text("Mara moved. #mnestic", encoding="utf-8")
    monkeypatch.setenv("MNESTIC_DATA_DIR", str(tmp_path / ("long" * 100)))
    monkeypatch.setenv("MNESTIC_OBSIDIAN_VAULT", str(tmp_path))
    there = findings(cli("doctor", "--json"), code=1)
    monkeypatch.setenv("MNESTIC_OBSIDIAN_VAULT", str(tmp_path / "gone"))
    gone = findings(cli("doctor", "--json"), code=1)["notes"]
    monkeypatch.setenv("MNESTIC_OBSIDIAN_URL", "http://127.0.0.1:27123")
    both = findings(cli("doctor", "--json"), code=1)["notes"]
    monkeypatch.delenv("MNESTIC_OBSIDIAN_VAULT")
    monkeypatch.setenv("MNESTIC_OBSIDIAN_URL", "http://[::1")
    malformed = findings(cli("doctor", "--json"), code=1)["notes"]

    assert [part for part, check in there.items() if not check["ok"]] == ["runtime", "disk"]
    assert "File name too long" in there["disk"]["found"]
    assert "MNESTIC_DATA_DIR" in there["disk"]["remedy"]
    assert there["notes"]["found"] == f"{tmp_path}, 1 notes with the usual tag"
    assert (gone["ok"], "No such file" in gone["found"]) == (False, True)
    assert "set one of both" in both["found"]
    assert (malformed["ok"], "MNESTIC_OBSIDIAN" in malformed["remedy"]) == (False, True)
