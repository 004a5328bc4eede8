"""What commands import: only what they use, so that each begins at once."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

# What lists commands, and prints their help.
LISTING = {
    "mnestic",
    "mnestic.memory",
    "mnestic.memory.errors",
    "mnestic.starter",
    *(
        f"mnestic.starter.cli{name}"
        for name in ("", ".app", ".lazy_groups", ".output", ".overrides")
    ),
}
ENGINES = {"temporalio", "sqlalchemy", "psycopg", "numpy", "openai", "alembic", "yaml"}
RUN = """
import sys
from mnestic.starter.cli.app import run_command_line

code = run_command_line()
print(*sys.modules, file=sys.stderr)
sys.exit(code)
"""
LOAD_ALL = """
import sys
import typer
from mnestic.starter.cli.app import app

def load(command):
    for child in getattr(command, "commands", {}).values():
        load(child)

load(typer.main.get_command(app))
print(*sys.modules)
"""


def imports(*words: str, **variables: str) -> set[str]:
    """The modules that a command has imported by its end."""
    done = subprocess.run(
        [sys.executable, "-c", RUN, *words],
        capture_output=True,
        text=True,
        check=True,
        cwd="/",  # away from any .env
        env={**os.environ, **variables},
    )
    return set(done.stderr.split())


def ours(modules: set[str]) -> set[str]:
    """Those of this package."""
    return {name for name in modules if name.split(".")[0] == "mnestic"}


def packages(modules: set[str]) -> set[str]:
    """The packages that modules are of."""
    return {name.split(".")[0] for name in modules}


@pytest.mark.parametrize(
    ("words", "groups"),
    [
        (("--help",), set()),
        (("memory", "--help"), {"mnestic.starter.cli.memory"}),
    ],
    ids=["all", "memory"],
)
def test_a_list_of_commands_imports_none_of_them(words: tuple[str, ...], groups: set[str]) -> None:
    imported = imports(*words)

    assert ours(imported) == LISTING | groups
    # Typer itself takes pydantic for the options of a group that stand before its command.
    unused = ENGINES | {"pydantic_settings", "asyncio"} | (set() if groups else {"pydantic"})
    assert packages(imported) & unused == set()


def test_to_load_all_commands_loads_no_engine() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOAD_ALL], capture_output=True, text=True, check=True, cwd="/"
    )

    loaded = set(done.stdout.split())
    assert "mnestic.starter.cli.knowledge.world" in loaded
    assert packages(loaded) & ENGINES == set()


def test_an_mcp_server_answers_before_it_loads_what_reaches_memory(tmp_path: Path) -> None:
    client = {"name": "test", "version": "1"}
    params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
    request = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}

    done = subprocess.run(
        [sys.executable, "-c", RUN, "mcp", "--agent", "ada"],
        input=json.dumps(request) + "\n",
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
        env={**os.environ, "MNESTIC_DATA_DIR": str(tmp_path)},
    )

    assert json.loads(done.stdout)["result"]["serverInfo"]["name"] == "mnestic"
    assert ENGINES.isdisjoint(set(done.stderr.split()) - {"yaml"})
