"""Groups that list commands without importing them: they say what the commands say."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from mnestic.starter.cli.app import app
from mnestic.starter.cli.lazy_groups import LazyGroup


def lazy_groups(words: tuple[str, ...], command: Any) -> Iterator[tuple[str, LazyGroup]]:
    """The groups that are lazy, by their words."""
    if isinstance(command, LazyGroup):
        yield " ".join(words), command
    for name, child in getattr(command, "commands", {}).items():
        yield from lazy_groups((*words, name), child)


GROUPS = dict(lazy_groups(("mnestic",), typer.main.get_command(app)))


def test_what_is_listed_most_is_lazy() -> None:
    assert set(GROUPS) == {"mnestic", "mnestic job", "mnestic memory"}


@pytest.mark.parametrize("group", GROUPS.values(), ids=GROUPS)
def test_a_list_of_commands_says_what_the_commands_say(group: LazyGroup) -> None:
    context = typer.Context(group)

    listed = {name: group.get_command(context, name) for name in group.list_commands(context)}

    assert list(listed) == list(group.commands)
    for name, command in group.commands.items():
        shown = listed[name]
        assert shown is not None
        assert command.help is not None
        assert (shown.name, shown.help) == (command.name, command.help.split("\n\n")[0])
        assert (shown.hidden, shown.deprecated) == (command.hidden, command.deprecated)


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("mnestic memory se", {"search", "settings"}),
        ("mnestic memory facts re", {"reactivate"}),
    ],
)
def test_the_shell_completes_what_is_not_loaded_yet(typed: str, offered: set[str]) -> None:
    words = {"COMP_WORDS": typed, "COMP_CWORD": str(len(typed.split()) - 1)}

    done = subprocess.run(
        [Path(sys.executable).with_name("mnestic")],
        env={**os.environ, "_MNESTIC_COMPLETE": "complete_bash", **words},
        capture_output=True,
        text=True,
        check=True,
        cwd="/",
    )

    assert set(done.stdout.split()) == offered
