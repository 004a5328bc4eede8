"""The command line as a whole: help, version, completion, usage."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
import typer

from mnestic.starter.cli.app import app

Cli = Callable[..., Any]


def commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The words of each command, the groups among them."""
    yield path
    for name, child in getattr(command, "commands", {}).items():
        yield from commands(child, (*path, name))


ALL = list(commands(typer.main.get_command(app)))


def test_the_commands_are_those_that_are_promised() -> None:
    promised = {
        *(("job", name) for name in ("start", "list", "show", "resume", "cancel", "result")),
        *(("memory", name) for name in ("ingest", "add", "show", "list", "stats")),
        *(("memory", "record", name) for name in ("get", "set", "list")),
        *((name,) for name in ("up", "worker", "deploy", "migrate", "doctor", "config", "demo")),
    }

    assert promised <= set(ALL)


def test_each_command_explains_itself_and_has_json(cli: Cli) -> None:
    names = ("facts", "importance", "keep-outs", "parked", "predicates", "record", "settings")
    groups = {(), ("bench",), ("job",), ("memory",), *(("memory", name) for name in names)}
    groups |= {
        ("maintenance",),
        ("maintenance", "policy"),
        ("schedules",),
        ("backup",),
        ("keys",),
        ("audit",),
        ("embeddings",),
    }
    has_none = {*groups, ("memory", "export"), ("mcp",)}  # which are always lines of JSON

    for words in ALL:
        done = cli(*words, "--help")

        assert done.code == 0, words
        assert "Usage: " in done.out, words
        assert done.err == "", words
        assert ("--json" in done.out) is (words not in has_none), words


def test_the_exit_codes_are_in_the_help(cli: Cli) -> None:
    told = " ".join(cli("--help").out.split())

    assert "Exit codes: 0 done" in told
    assert "130 interrupted" in told


def test_the_version_is_that_of_the_package(cli: Cli) -> None:
    done = cli("--version")

    assert done.out == f"{version('mnestic')}\n"


@pytest.mark.parametrize(
    "words", [("nonsense",), ("job", "nonsense"), ("job", "show"), ("job", "list", "--limit", "0")]
)
def test_a_command_that_is_none_is_refused_in_words(cli: Cli, words: tuple[str, ...]) -> None:
    done = cli(*words)

    assert done.code == 2
    assert done.out == ""
    assert "Usage: " in done.err
    assert "Traceback" not in done.err


def test_the_shell_completion_can_be_shown() -> None:
    program = Path(sys.executable).with_name("mnestic")
    script = subprocess.run(
        [program],
        env={**os.environ, "_MNESTIC_COMPLETE": "source_bash"},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    ).stdout

    assert "_MNESTIC_COMPLETE=complete_bash" in script


def said(*words: str, encoding: str) -> str:
    """What `mnestic extract` tells a terminal that can show these characters alone."""
    done = subprocess.run(
        [Path(sys.executable).with_name("mnestic"), "extract", "I live in Łódź.", *words],
        env={**os.environ, "PYTHONIOENCODING": encoding, "COLUMNS": "200"},
        cwd="/",  # away from any .env
        capture_output=True,
        check=True,
        timeout=60,
    )
    return done.stdout.decode(encoding)


@pytest.mark.parametrize("encoding", ["latin-1", "utf-8"])
def test_what_a_terminal_has_no_character_for_is_escaped(encoding: str) -> None:
    table = said("--speaker", "Mara", encoding=encoding)

    assert ("\\u0141" in table) is (encoding != "utf-8")
    assert "Mara" in table


def test_a_document_is_whole_where_a_terminal_has_no_characters_for_it() -> None:
    document = json.loads(said("--speaker", "Mara", "--json", encoding="ascii"))

    assert document["claims"][0]["object"] == "Łódź"


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
