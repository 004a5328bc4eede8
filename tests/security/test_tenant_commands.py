"""The wall between tenants, in front of the commands: what one knows of another's memory opens nothing.

Every command of `mnestic` has its words in `command_cases`. It is run for a new tenant by `--tenant`, where the
environment names the victim, so that a command that does not heed the option does what it must not.
"""

import asyncio
import logging
import sys
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import typer

from mnestic.starter.cli.app import app, run_command_line
from mnestic.starter.client.mnestic_client import MnesticClient
from tests.security.command_cases import COMMAND_CASES, NAMING, WITHOUT_CASE
from tests.security.matrix import first_of_each
from tests.security.tenants import Known, Victim, events_of, leaked, rows_of, without_names

pytestmark = pytest.mark.asyncio(loop_scope="module")
Run = Callable[..., tuple[int, str]]
_OURS = ("MNESTIC_", "TEMPORAL_", "OPENAI_", "OTEL_")


def commands() -> dict[str, Any]:
    """All commands by their words."""
    found = {}
    ahead = [((), typer.main.get_command(app))]
    while ahead:
        words, command = ahead.pop()
        below = getattr(command, "commands", None)
        if below is None:
            found[" ".join(words)] = command
        else:
            ahead.extend(((*words, name), each) for name, each in below.items())
    return found


def command_of(case: str) -> str:
    """The command of a case, without its options."""
    return case.partition(" --")[0]


@pytest.fixture
def run(
    victim: Victim,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> Run:
    """Runs a command where the victim works; gives its exit code, and all that it says."""
    settings = victim.settings
    assert settings.database_url is not None
    assert settings.database_admin_url is not None
    for name, value in {
        "MNESTIC_DATA_DIR": str(tmp_path / "data"),
        "MNESTIC_DATABASE_URL": settings.database_url.get_secret_value(),
        "MNESTIC_DATABASE_ADMIN_URL": settings.database_admin_url.get_secret_value(),
        "MNESTIC_TEMPORAL_UI_URL": str(settings.temporal_ui_url),
        "MNESTIC_TENANT_ID": settings.tenant_id,
        "MNESTIC_TASK_QUEUE": settings.task_queue,
        "MNESTIC_BACKUP_DIRECTORY": str(settings.backup_directory),
        "TEMPORAL_ADDRESS": str(settings.temporal_address),
        "COLUMNS": "500",
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)

    def command(*words: str) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["mnestic", *words])
        capsys.readouterr()
        with _logs_put_back():
            code = run_command_line()
        out, err = capsys.readouterr()
        return code, f"{out}{err}"

    return command


@contextmanager
def _logs_put_back() -> Iterator[None]:
    """A command may send all logs to its own standard error, which is closed when its test is over."""
    root = logging.getLogger()
    handlers, level = [*root.handlers], root.level
    try:
        yield
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)


async def test_each_command_has_a_case_or_a_reason() -> None:
    tried = {command_of(case) for case in COMMAND_CASES}

    assert set(commands()) - tried - set(WITHOUT_CASE) == set()
    assert (tried | set(WITHOUT_CASE)) - set(commands()) == set(), "these are no commands any more"


async def test_each_option_that_names_something_is_tried(victim: Victim, tmp_path: Path) -> None:
    tried: dict[str, set[str]] = {}
    for case, words in COMMAND_CASES.items():
        tried.setdefault(command_of(case), set()).update(words(victim.known, tmp_path))

    known = commands()
    for name, words_of in tried.items():
        options = {option for one in known[name].params for option in one.opts}
        assert (options & NAMING) - words_of == set(), name


@pytest.mark.usefixtures("shared_worker")
@pytest.mark.parametrize("case", first_of_each(COMMAND_CASES, lambda case: case.split()[0]))
async def test_a_command_for_another_tenant_finds_and_changes_nothing(
    run: Run, theirs: MnesticClient, victim: Victim, admin_url: str, tmp_path: Path, case: str
) -> None:
    rows = rows_of(admin_url, victim.tenant_id)
    events = await events_of(theirs, victim.known)

    async def answered(known: Known, *more: str) -> tuple[int, str]:
        words = COMMAND_CASES[case](known, tmp_path)
        tenant_id = f"t-{uuid.uuid4().hex[:8]}"
        command = ("--tenant", tenant_id, *case.split(), *words, *more)
        code, said = await asyncio.to_thread(run, *command)
        assert leaked(said, victim, given=known) == []
        assert code in {0, 1, 2}, said
        return code, without_names(said, known=known, tenant_id=tenant_id)

    known, nothing = victim.known, victim.known.of_nothing()

    await answered(known)
    found = await answered(known, "--json")

    if COMMAND_CASES[case](known, tmp_path) != COMMAND_CASES[case](nothing, tmp_path):
        assert found == await answered(nothing, "--json")
    assert rows_of(admin_url, victim.tenant_id) == rows
    assert await events_of(theirs, victim.known) == events
