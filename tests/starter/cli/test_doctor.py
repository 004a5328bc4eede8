"""`mnestic doctor`: each part, and how to mend it."""

import json
import os
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest

from mnestic.memory.ports import Memory
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.maintenance_wiring import maintenance_activities, make_maintenance_worker
from mnestic.starter.settings import Settings

Cli = Callable[..., Any]
Ask = Callable[..., Awaitable[Any]]


def findings(done: Any, *, code: int) -> dict[str, Any]:
    """The checks by the name of their part, of a doctor that ended so."""
    assert done.code == code, done.err
    document = json.loads(done.out)
    assert document["ok"] is (code == 0)
    return {check["part"]: check for check in document["checks"]}


@pytest.fixture
async def maintenance_worker(
    client: MnesticClient, memory: Memory, settings: Settings, admin_url: str
) -> AsyncIterator[None]:
    activities = maintenance_activities(memory, admin_url=admin_url)
    async with make_maintenance_worker(client.temporal, settings, activities=activities):
        yield


@pytest.mark.usefixtures("worker", "maintenance_worker")
async def test_all_is_well_where_all_is_up(ask: Ask) -> None:
    deadline = time.monotonic() + 30
    while (told := await ask("doctor")).code:
        assert time.monotonic() < deadline, told.out  # the worker's first poll is on its way
    checks = findings(await ask("doctor", "--json"), code=0)

    assert set(checks) == {
        "Postgres",
        "role",
        "pgvector",
        "migrations",
        "rights",
        "storage",
        "Temporal",
        "search attributes",
        "workers",
        "maintenance workers",
        "workflow tasks",
        "index",
        "cache",
        "backups",
        "schedules",
        "models",
        "extraction",
        "disk",
    }
    assert all(check["ok"] for check in checks.values())
    assert told.code == 0
    assert told.out.count("ok ") == len(checks)


def test_without_a_worker_it_says_how_to_start_one(wired: Cli) -> None:
    checks = findings(wired("doctor", "--json"), code=1)
    told = wired("doctor")

    missing = [part for part, check in checks.items() if not check["ok"]]
    assert missing == ["workers", "maintenance workers"]
    assert "mnestic worker" in checks["workers"]["remedy"]
    assert "--serves maintenance" in checks["maintenance workers"]["remedy"]
    assert "FAIL workers" in told.out
    assert "mnestic worker" in told.out


def test_an_address_as_sqlalchemy_writes_it_is_one_too(
    wired: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = os.environ["MNESTIC_DATABASE_URL"].replace("postgresql:", "postgresql+psycopg:")
    monkeypatch.setenv("MNESTIC_DATABASE_URL", url)

    checks = findings(wired("doctor", "--json"), code=1)  # since no worker polls

    assert checks["Postgres"]["ok"]


def test_a_database_that_is_down_does_not_hide_the_other_parts(
    wired: Cli, monkeypatch: pytest.MonkeyPatch, closed_port: int
) -> None:
    url = f"postgresql://ada:secret@127.0.0.1:{closed_port}/none"
    monkeypatch.setenv("MNESTIC_DATABASE_URL", url)

    checks = findings(wired("doctor", "--json"), code=1)

    assert not checks["Postgres"]["ok"]
    assert f"127.0.0.1:{closed_port}" in checks["Postgres"]["found"]
    assert "MNESTIC_DATABASE_URL" in checks["Postgres"]["remedy"]
    assert "secret" not in str(checks)
    assert checks["Temporal"]["ok"]


def test_a_temporal_that_is_down_does_not_hide_the_other_parts(
    wired: Cli, monkeypatch: pytest.MonkeyPatch, closed_port: int
) -> None:
    monkeypatch.setenv("TEMPORAL_ADDRESS", f"127.0.0.1:{closed_port}")

    checks = findings(wired("doctor", "--json"), code=1)

    assert not checks["Temporal"]["ok"]
    assert "TEMPORAL_ADDRESS" in checks["Temporal"]["remedy"]
    assert checks["migrations"]["ok"]


def test_missing_migrations_are_told_with_their_command(
    wired: Cli, monkeypatch: pytest.MonkeyPatch, other_database: str
) -> None:
    monkeypatch.setenv("MNESTIC_DATABASE_URL", other_database)

    checks = findings(wired("doctor", "--json"), code=1)

    assert not checks["migrations"]["ok"]
    assert checks["migrations"]["remedy"] == "mnestic migrate"
    assert not checks["pgvector"]["ok"]


def test_a_newer_database_wants_a_newer_program(
    wired: Cli, monkeypatch: pytest.MonkeyPatch, newer_database: str
) -> None:
    monkeypatch.setenv("MNESTIC_DATABASE_URL", newer_database)

    checks = findings(wired("doctor", "--json"), code=1)

    assert not checks["migrations"]["ok"]
    assert "9999" in checks["migrations"]["found"]
    assert checks["migrations"]["remedy"] == "install a newer Mnestic"


@pytest.mark.parametrize(
    ("chosen", "found"), [("none", "no facts are extracted"), ("", "english-")]
)
def test_what_extracts_facts_is_shown(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, chosen: str, found: str
) -> None:
    monkeypatch.setenv("MNESTIC_EXTRACTION_MODEL", chosen)

    checks = findings(cli("doctor", "--json"), code=1)

    assert checks["extraction"]["ok"]
    assert found in checks["extraction"]["found"]


def test_without_a_runtime_it_says_to_start_one(cli: Cli) -> None:
    checks = findings(cli("doctor", "--json"), code=1)

    assert not checks["runtime"]["ok"]
    assert checks["runtime"]["remedy"] == "mnestic up"
    assert checks["disk"]["ok"]


@pytest.fixture
def modelled(cli: Cli, monkeypatch: pytest.MonkeyPatch, chat_server: Any) -> Cli:
    """Runs a command whose models are on the loopback server, which knows two."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-0123")
    monkeypatch.setenv("OPENAI_BASE_URL", chat_server.base_url)
    chat_server.sends({"object": "list", "data": [{"id": "gpt-5-mini"}, {"id": "reader"}]})
    return cli


def test_the_models_in_force_are_told(
    modelled: Cli, monkeypatch: pytest.MonkeyPatch, chat_server: Any
) -> None:
    monkeypatch.setenv("MNESTIC_EXTRACTION_MODEL", "reader")

    checks = findings(modelled("doctor", "--json"), code=1)

    assert checks["models"]["ok"]
    assert checks["models"]["found"] == "the server knows gpt-5-mini, reader"
    assert [request["path"] for request in chat_server.requests] == ["/v1/models"]


@pytest.mark.parametrize(
    ("status", "body", "told"),
    [
        (401, {"error": {"message": "bad key sk-secret-0123"}}, "check the API key"),
        (200, {"data": [{"id": "other"}]}, "does not know it; it knows other"),
        (200, {"hello": "world"}, "check the base URL"),
        (503, {}, "does not answer"),
    ],
)
def test_a_model_that_cannot_be_asked_is_told(
    modelled: Cli, chat_server: Any, status: int, body: Any, told: str
) -> None:
    chat_server.status = status
    chat_server.sends(body)

    checks = findings(modelled("doctor", "--json"), code=1)

    assert not checks["models"]["ok"]
    assert told in checks["models"]["found"]
    assert "OPENAI_API_KEY" in checks["models"]["remedy"]
    assert "sk-secret" not in str(checks)


def test_a_vault_of_notes_is_looked_at_where_one_is_named(
    wired: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "Mara.md").write_text("Mara moved. #mnestic", encoding="utf-8")
    monkeypatch.setenv("MNESTIC_OBSIDIAN_VAULT", str(tmp_path))
    there = findings(wired("doctor", "--json"), code=1)["notes"]
    monkeypatch.setenv("MNESTIC_OBSIDIAN_VAULT", str(tmp_path / "gone"))
    gone = findings(wired("doctor", "--json"), code=1)["notes"]
    monkeypatch.setenv("MNESTIC_OBSIDIAN_URL", "http://127.0.0.1:27123")
    both = findings(wired("doctor", "--json"), code=1)["notes"]

    assert (there["ok"], there["found"]) == (True, f"{tmp_path}, 1 notes with the usual tag")
    assert not gone["ok"]
    assert "No such file" in gone["found"]
    assert "set one of both" in both["found"]


def test_a_data_directory_that_cannot_be_looked_at_fails_its_own_checks_alone(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("MNESTIC_DATA_DIR", str(tmp_path / ("long" * 100)))

    checks = findings(cli("doctor", "--json"), code=1)

    assert [part for part, check in checks.items() if not check["ok"]] == ["runtime", "disk"]
    assert "File name too long" in checks["disk"]["found"]
    assert "MNESTIC_DATA_DIR" in checks["disk"]["remedy"]
    assert checks["models"]["ok"]


def test_an_address_of_notes_that_is_none_fails_its_own_check_alone(
    wired: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MNESTIC_OBSIDIAN_URL", "http://[::1")

    checks = findings(wired("doctor", "--json"), code=1)

    assert not checks["notes"]["ok"]
    assert "MNESTIC_OBSIDIAN" in checks["notes"]["remedy"]
    assert checks["Postgres"]["ok"]
    assert checks["disk"]["ok"]


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
