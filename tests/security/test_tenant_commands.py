"""The wall between tenants, in front of the commands: what one knows of another's memory opens nothing.

Every command of `mnestic` has its words in `command_cases.yaml`. It is run for a new tenant by `--tenant`, where the
environment names the victim, so that a command that does not heed the option does what it must not.
"""

import asyncio
import shlex
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer

from mnestic.starter.cli.app import app
from mnestic.starter.client.mnestic_client import MnesticClient
from tests.security.calls import first_of_each
from tests.security.tenants import Known, Victim, leaked, state_of, without_names
from tests.starter.case_files import read_cases
from tests.starter.cli.conftest import Cli, variables_of
from tests.starter.cli.conftest import cli as cli  # noqa: PLC0414 - a fixture

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.acceptance]
READ = read_cases(__file__, "command_cases")
CASES = [(name, words) for name, every in READ["commands"].items() for words in every]


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


def words_of(case: str, known: Known, folder: Path) -> list[str]:
    """The words of a case; of what is not known there is no next page."""
    return shlex.split(case.format(**dict(known), folder=folder).removesuffix("--cursor None"))


@pytest.fixture
def run(
    cli: Cli, victim: Victim, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Callable[..., tuple[int, str]]:
    """Runs a command where the victim works; gives its exit code, and all that it says."""
    settings = victim.settings
    backups = {"MNESTIC_BACKUP_DIRECTORY": str(settings.backup_directory), "COLUMNS": "500"}
    for name, value in (variables_of(settings) | backups).items():
        monkeypatch.setenv(name, value)
    for name, text in READ["files"].items():
        (tmp_path / name).write_text(text, encoding="utf-8")

    def command(*words: str) -> tuple[int, str]:
        done = cli(*words)
        return done.code, f"{done.out}{done.err}"

    return command


async def test_each_command_has_a_case_or_a_reason() -> None:
    assert set(commands()) == set(READ["commands"]) | set(READ["without"])


async def test_each_option_that_names_something_is_tried(victim: Victim, tmp_path: Path) -> None:
    for name, command in commands().items():
        tried = {
            word
            for case in READ["commands"].get(name, ())
            for word in words_of(case, victim.known, tmp_path)
        }
        options = {option for one in command.params for option in one.opts}
        assert name in READ["without"] or options & set(READ["naming"]) <= tried, name


@pytest.mark.usefixtures("shared_worker")
@pytest.mark.parametrize(("name", "case"), first_of_each(CASES, lambda case: case[0].split()[0]))
async def test_a_command_for_another_tenant_finds_and_changes_nothing(
    run: Callable[..., tuple[int, str]],
    theirs: MnesticClient,
    victim: Victim,
    admin_url: str,
    tmp_path: Path,
    name: str,
    case: str,
) -> None:
    before = await state_of(theirs, victim, admin_url)

    async def answered(known: Known, *more: str) -> tuple[int, str]:
        words = words_of(case, known, tmp_path)
        tenant_id = f"t-{uuid.uuid4().hex[:8]}"
        command = ("--tenant", tenant_id, *name.split(), *words, *more)
        code, said = await asyncio.to_thread(run, *command)
        assert leaked(said, victim, given=known) == []
        assert code in {0, 1, 2}, said
        return code, without_names(said, known=known, tenant_id=tenant_id)

    known, nothing = victim.known, victim.known.of_nothing()

    await answered(known)
    found = await answered(known, "--json")

    if words_of(case, known, tmp_path) != words_of(case, nothing, tmp_path):
        assert found == await answered(nothing, "--json")
    assert await state_of(theirs, victim, admin_url) == before
