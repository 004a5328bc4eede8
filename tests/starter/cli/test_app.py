"""The command line as a whole: help, version, completion, usage."""

import os
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
import typer

from mnestic.starter.cli.app import app
from tests.starter.cli.conftest import Cli


def commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """The commands by their words, the groups among them."""
    yield " ".join(path), command
    for name, child in getattr(command, "commands", {}).items():
        yield from commands(child, (*path, name))


ALL = dict(commands(typer.main.get_command(app)))


def test_each_command_explains_itself_and_has_json() -> None:
    without_json = {"memory export", "memory do", "mcp", "contract schema"}  # always JSON
    for words, command in ALL.items():
        assert command.help, words
        has_json = any("--json" in one.opts for one in command.params)
        assert has_json is not (hasattr(command, "commands") or words in without_json), words


def test_the_exit_codes_are_in_the_help_and_a_group_lists_its_commands(cli: Cli) -> None:
    told, of_job = (" ".join(cli(*words, "--help").out.split()) for words in ((), ("job",)))

    assert "Exit codes: 0 done" in told
    assert "130 interrupted" in told
    assert "Usage: " in of_job
    for name in ("start", "list", "show", "resume", "cancel", "result"):
        assert f" {name} " in of_job


def test_the_version_is_that_of_the_package(cli: Cli) -> None:
    done = cli("--version")

    assert done.out == f"{version('mnestic')}\n"


def test_what_a_terminal_has_no_character_for_is_escaped() -> None:
    done = subprocess.run(
        [Path(sys.executable).with_name("mnestic"), "extract", "I live in Łódź.", "--speaker", "M"],
        env={**os.environ, "PYTHONIOENCODING": "latin-1", "COLUMNS": "200"},
        cwd="/",  # away from any .env
        capture_output=True,
        check=True,
        timeout=60,
    )

    assert "\\u0141" in done.stdout.decode("latin-1")


@pytest.mark.parametrize("tenant", ["bad tenant/!", ""])
def test_a_tenant_that_is_no_id_is_refused_before_anything_is_done(
    wired: Cli, monkeypatch: pytest.MonkeyPatch, tenant: str
) -> None:
    commands = (
        ("memory", "add", "x y z", "--agent", "q"),
        ("memory", "search", "x y z", "--agent", "q"),
        ("job", "list"),
        ("schedules", "list"),
        ("config",),
    )

    given = {words: wired("--tenant", tenant, *words).error(code=2) for words in commands}
    monkeypatch.setenv("MNESTIC_TENANT_ID", tenant or " ")  # an empty variable counts as unset
    set_so = {words: wired(*words).error(code=2) for words in commands}

    for words in commands:
        assert f"error: tenant: {tenant!r} is not an id" in given[words]
        assert f"error: MNESTIC_TENANT_ID: {tenant or ' '!r} is not an id" in set_so[words]
