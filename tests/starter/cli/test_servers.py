"""Servers that are down, too new, or in the way: one line, in time, and nothing is changed."""

import asyncio
import json
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psutil
import psycopg
import pytest
from google.protobuf.duration_pb2 import Duration
from temporalio.api.workflowservice.v1 import RegisterNamespaceRequest
from temporalio.client import Client

from mnestic.memory.names import SEARCH_ATTRIBUTES
from mnestic.starter.embedded.state import RuntimeState, write_state
from mnestic.starter.settings import Settings

Cli = Callable[..., Any]

LIMIT_S = 15.0
OF_MEMORY = [
    ("memory", "record", "get", "n", "k", "--agent", "a"),
    ("memory", "record", "set", "n", "k", "1", "--agent", "a"),
]
OF_TEMPORAL = [
    ("job", "list"),
    ("job", "show", "x"),
    ("job", "resume", "x"),
    ("worker",),
    ("up",),
]
COMMANDS = [*OF_MEMORY, *OF_TEMPORAL]


def in_time(cli: Cli, *words: str) -> Any:
    """Runs a command, which must be over soon."""
    began = time.monotonic()
    done = cli(*words)
    assert time.monotonic() - began < LIMIT_S
    return done


@pytest.mark.parametrize("words", [*COMMANDS, ("migrate",), ("demo", "--json")], ids=" ".join)
def test_a_database_that_does_not_answer_is_told(
    wired: Cli, monkeypatch: pytest.MonkeyPatch, closed_port: int, words: tuple[str, ...]
) -> None:
    url = f"postgresql://ada:secret@127.0.0.1:{closed_port}/none"
    monkeypatch.setenv("MNESTIC_DATABASE_URL", url)
    monkeypatch.setenv("MNESTIC_DATABASE_ADMIN_URL", url)

    done = in_time(wired, *words)

    told = next(line for line in done.err.splitlines() if line.startswith("error: "))
    assert done.code == 3, done.err
    assert f"Postgres at postgresql://ada:***@127.0.0.1:{closed_port}/none" in told
    assert "secret" not in done.err
    assert "Traceback" not in done.err
    assert done.out == ""


@pytest.mark.parametrize("words", [*OF_TEMPORAL, ("migrate",), ("demo", "--json")], ids=" ".join)
def test_a_temporal_that_does_not_answer_is_told(
    wired: Cli, monkeypatch: pytest.MonkeyPatch, closed_port: int, words: tuple[str, ...]
) -> None:
    monkeypatch.setenv("TEMPORAL_ADDRESS", f"127.0.0.1:{closed_port}")

    done = in_time(wired, *words)

    told = next(line for line in done.err.splitlines() if line.startswith("error: "))
    assert done.code == 3, done.err
    assert f"Temporal at 127.0.0.1:{closed_port} does not answer" in told
    assert "Traceback" not in done.err
    assert done.out == ""


def test_a_database_newer_than_this_code_is_left_alone(
    wired: Cli, monkeypatch: pytest.MonkeyPatch, newer_database: str
) -> None:
    monkeypatch.setenv("MNESTIC_DATABASE_URL", newer_database)
    monkeypatch.setenv("MNESTIC_DATABASE_ADMIN_URL", newer_database)

    for words in (*COMMANDS, ("migrate",), ("demo", "--json")):
        done = in_time(wired, *words)

        told = next(line for line in done.err.splitlines() if line.startswith("error: "))
        assert done.code == 2, (words, done.err)
        assert "the database is at schema 9999" in told, words
        assert "Traceback" not in done.err, words
    with psycopg.connect(newer_database) as connection:
        found = connection.execute("SELECT version_num FROM mnestic.alembic_version").fetchall()
        written = connection.execute("SELECT count(*) FROM mnestic.operation").fetchone()
    assert found == [("9999",)]
    assert written == (0,)


def test_a_database_that_was_never_migrated_says_how(
    wired: Cli, monkeypatch: pytest.MonkeyPatch, other_database: str
) -> None:
    monkeypatch.setenv("MNESTIC_DATABASE_URL", other_database)

    for words in COMMANDS[:-1]:
        refused = wired(*words)

        assert "run `mnestic migrate`" in refused.error(code=2), words


def test_migrate_brings_a_new_database_to_this_version(
    wired: Cli, monkeypatch: pytest.MonkeyPatch, other_database: str
) -> None:
    monkeypatch.setenv("MNESTIC_DATABASE_ADMIN_URL", other_database)
    monkeypatch.setenv("MNESTIC_DATABASE_URL", other_database)

    first = wired("migrate", "--json").document
    second = wired("migrate")

    assert first["schema"] >= "0001"
    assert second.out == f"The schema is at version {first['schema']}.\n"
    assert wired("memory", "record", "list", "--agent", "a", "--json").document["records"] == []


def test_migrate_registers_the_search_attributes_of_a_namespace(
    wired: Cli, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    async def register() -> None:
        temporal = await Client.connect(str(settings.temporal_address))
        day = Duration(seconds=86_400)
        await temporal.workflow_service.register_namespace(
            RegisterNamespaceRequest(namespace="bare", workflow_execution_retention_period=day)
        )

    asyncio.run(register())
    monkeypatch.setenv("TEMPORAL_NAMESPACE", "bare")

    first, second = (wired("migrate", "--json").document for _ in range(2))

    assert first["search_attributes"] == [*SEARCH_ATTRIBUTES]
    assert second["search_attributes"] == []


def test_lost_rights_are_named_by_doctor_and_mended_by_migrate(
    wired: Cli, monkeypatch: pytest.MonkeyPatch, other_database: str
) -> None:
    monkeypatch.setenv("MNESTIC_DATABASE_ADMIN_URL", other_database)
    monkeypatch.setenv("MNESTIC_DATABASE_URL", other_database)
    wired("migrate")
    with psycopg.connect(other_database) as owner:
        owner.execute("REVOKE INSERT, SELECT ON mnestic.entry FROM mnestic_app")
        owner.execute("REVOKE UPDATE ON mnestic.fact, mnestic.setting FROM mnestic_app")

    def rights() -> dict[str, Any]:
        checks = json.loads(wired("doctor", "--json").out)["checks"]
        return next(check for check in checks if check["part"] == "rights")

    lost, mended = rights(), wired("migrate")

    first = "mnestic_app lacks INSERT on entry; mnestic_app lacks SELECT on entry; "
    amiss = f"{first}mnestic_app lacks UPDATE on fact and 1 more"
    assert (lost["ok"], lost["found"], lost["remedy"]) == (False, amiss, "mnestic migrate")
    assert f"Repaired: {amiss}." in mended.err.replace("\n", " ")
    assert rights()["ok"]


@pytest.mark.parametrize("option", ["--port", "--ui-port"])
def test_a_port_in_use_is_named_with_who_has_it(cli: Cli, option: str, taken_port: int) -> None:
    done = in_time(cli, "up", option, str(taken_port))

    errors = [line for line in done.err.splitlines() if line.startswith("error: ")]
    assert done.code == 2
    assert len(errors) == 1
    assert f"port {taken_port} is in use by " in errors[0]
    assert f"choose another port (`mnestic up {option}`, or MNESTIC_" in errors[0]
    assert done.out == ""


@pytest.mark.parametrize(
    "words",
    [
        *COMMANDS[:-1],
        *(("migrate",), ("schedules", "list"), ("deploy",), ("costs",), ("stats", "--agent", "a")),
        *(
            ("job", "show", "j"),
            ("job", "resume", "j"),
            ("job", "result", "j"),
            ("job", "pause", "j"),
        ),
        *(
            ("memory", command, "x", "--agent", "a")
            for command in ("add", "search", "show", "world")
        ),
        ("memory", "record", "set", "n", "k", "1", "--agent", "a"),
        ("memory", "predicates", "list"),
        ("memory", "settings", "get", "--agent", "a"),
    ],
    ids=" ".join,
)
def test_without_servers_a_command_says_what_to_run(cli: Cli, words: tuple[str, ...]) -> None:
    refused = cli(*words)

    assert "run `mnestic up`" in refused.error(code=3)


@pytest.mark.parametrize("words", [("job", "list"), ("memory", "record", "list", "--agent", "a")])
def test_while_a_runtime_starts_a_command_is_told_to_come_back(
    cli: Cli, tmp_path: Path, words: tuple[str, ...]
) -> None:
    me = psutil.Process()
    starting = RuntimeState(
        pid=me.pid, create_time=me.create_time(), started_at=datetime.now(UTC), ready=False
    )
    (tmp_path / "data").mkdir()
    write_state(tmp_path / "data", starting)

    refused = cli(*words)
    doctor = cli("doctor")

    assert f"runtime (pid {me.pid}) is starting or stopping; try again" in refused.error(code=3)
    assert "FAIL runtime" in doctor.out
    assert "`mnestic up` says that it is ready" in doctor.out


def test_a_data_directory_that_cannot_be_used_is_named(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder", encoding="utf-8")

    refused = cli("up", "--data", str(tmp_path / "file"))

    assert "MNESTIC_DATA_DIR" in refused.error(code=2)


def test_metrics_that_cannot_be_served_keep_a_worker_from_starting(
    wired: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MNESTIC_PROMETHEUS_ADDRESS", "nowhere")

    refused = wired("worker")

    assert "MNESTIC_PROMETHEUS_ADDRESS: metrics cannot be served at nowhere" in refused.err
    assert refused.code == 2


def test_a_profile_of_temporal_that_cannot_be_read_is_told(
    wired: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEMPORAL_CONFIG_FILE", "gone.toml")
    monkeypatch.setenv("TEMPORAL_PROFILE", "mine")

    refused = wired("job", "list")

    assert "TEMPORAL" in refused.error(code=2)
