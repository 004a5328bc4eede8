"""Servers that are down, too new, or in the way: one line, in time, and nothing is changed."""

import asyncio
import json
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
from mnestic.stores.postgres.schema import migrate
from tests.starter.cli.conftest import Cli

OF_MEMORY = [
    ("memory", "record", "get", "n", "k", "--agent", "a"),
    ("memory", "record", "set", "n", "k", "1", "--agent", "a"),
]
OF_TEMPORAL = [("job", "list"), ("job", "resume", "x"), ("worker",), ("up",)]
OTHERS = [("migrate",), ("demo", "--json")]
COMMANDS = [*OF_MEMORY, *OF_TEMPORAL, *OTHERS]
FORGET = ("memory", "forget", "Paris", "--agent", "a", "--yes")


def error_of(done: Any, *, code: int) -> str:
    """The line that says what is wrong; others may say what was begun."""
    assert (done.code, done.out, "Traceback" in done.err) == (code, "", False), done.err
    return next(line for line in done.err.splitlines() if line.startswith("error: "))


def test_a_server_that_does_not_answer_is_told(
    wired: Cli, monkeypatch: pytest.MonkeyPatch, closed_port: int
) -> None:
    with monkeypatch.context() as away:
        away.setenv("TEMPORAL_ADDRESS", f"127.0.0.1:{closed_port}")
        for words in (*OF_TEMPORAL, *OTHERS, FORGET):
            told = error_of(wired(*words), code=3)
            assert f"Temporal at 127.0.0.1:{closed_port} does not answer" in told, words
    url = f"postgresql://ada:secret@127.0.0.1:{closed_port}/none"
    for name in ("MNESTIC_DATABASE_URL", "MNESTIC_DATABASE_ADMIN_URL"):
        monkeypatch.setenv(name, url)
    for words in COMMANDS:
        told = error_of(done := wired(*words), code=3)
        assert f"Postgres at postgresql://ada:***@127.0.0.1:{closed_port}/none" in told, words
        assert "secret" not in done.err


def test_a_database_of_another_version_is_left_alone(
    wired: Cli, monkeypatch: pytest.MonkeyPatch, empty_url: str
) -> None:
    monkeypatch.setenv("MNESTIC_DATABASE_URL", empty_url)
    for words in (*OF_MEMORY, ("job", "list"), ("worker",)):
        assert "run `mnestic migrate`" in wired(*words).error(code=2), words
    migrate(empty_url)
    with psycopg.connect(empty_url) as connection:
        connection.execute("UPDATE mnestic.alembic_version SET version_num = '9999'")
    monkeypatch.setenv("MNESTIC_DATABASE_ADMIN_URL", empty_url)
    for words in COMMANDS:
        assert "the database is at schema 9999" in error_of(wired(*words), code=2), words
    with psycopg.connect(empty_url) as connection:
        found = connection.execute("SELECT version_num FROM mnestic.alembic_version").fetchall()
        written = connection.execute("SELECT count(*) FROM mnestic.operation").fetchone()
    assert (found, written) == ([("9999",)], (0,))


def test_migrate_brings_a_new_database_to_this_version(
    wired: Cli, monkeypatch: pytest.MonkeyPatch, empty_url: str
) -> None:
    monkeypatch.setenv("MNESTIC_DATABASE_ADMIN_URL", empty_url)
    monkeypatch.setenv("MNESTIC_DATABASE_URL", empty_url)

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
    wired: Cli, monkeypatch: pytest.MonkeyPatch, empty_url: str
) -> None:
    monkeypatch.setenv("MNESTIC_DATABASE_ADMIN_URL", empty_url)
    monkeypatch.setenv("MNESTIC_DATABASE_URL", empty_url)
    wired("migrate")
    with psycopg.connect(empty_url) as owner:
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
    told = error_of(cli("up", option, str(taken_port)), code=2)

    assert f"port {taken_port} is in use by " in told
    assert f"choose another port (`mnestic up {option}`, or MNESTIC_" in told


def test_without_servers_a_command_says_what_to_run_and_while_they_start_to_come_back(
    cli: Cli, tmp_path: Path
) -> None:
    agent = ("--agent", "a")
    commands = [
        *((*OF_MEMORY, ("job", "list"), ("job", "show", "j"), ("worker",), ("migrate",))),
        *(("schedules", "list"), ("deploy",), ("costs",), ("stats", *agent)),
        *(("memory", command, "x", *agent) for command in ("add", "search", "show", "world")),
        *(("memory", "predicates", "list"), ("memory", "settings", "get", *agent)),
    ]
    for words in commands:
        assert "run `mnestic up`" in cli(*words).error(code=3), words
    me = psutil.Process()
    starting = RuntimeState(
        pid=me.pid, create_time=me.create_time(), started_at=datetime.now(UTC), ready=False
    )
    (tmp_path / "data").mkdir()
    write_state(tmp_path / "data", starting)
    for words in (("job", "list"), ("memory", "record", "list", *agent)):
        refused = cli(*words).error(code=3)
        assert f"runtime (pid {me.pid}) is starting or stopping; try again" in refused
    doctor = cli("doctor")

    assert "FAIL runtime" in doctor.out
    assert "`mnestic up` says that it is ready" in doctor.out


def test_a_profile_of_temporal_that_cannot_be_read_is_told(
    wired: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEMPORAL_CONFIG_FILE", "gone.toml")
    monkeypatch.setenv("TEMPORAL_PROFILE", "mine")

    refused = wired("job", "list")

    assert "TEMPORAL" in refused.error(code=2)
