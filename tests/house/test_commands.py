"""The commands that pages, errors, findings and alerts name are those of the command line."""

import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from mnestic.starter.cli.app import app

ROOT = Path(__file__).parents[2]
UNREAD = ("tests/", "CHANGELOG.md")  # the changelog names what commands were before
JOINED = re.compile(r'"\s*\n\s*f?"|\\\n')  # one text on several lines of code, or of a shell
QUOTED = re.compile(r"`mnestic ([^`]+)`")
TYPED = re.compile(r"^(?:\S+=\S+ )?mnestic ([^\n]+)$", re.MULTILINE)
PLAIN = re.compile(r"(?<!`)(?<!^)(?<![\w/.@-])(?<!from )mnestic (?!or |keep-out)([a-z][a-z -]*)")


def texts() -> Iterator[tuple[str, str]]:
    """Each text of the repository that somebody reads, by its path."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True
    )
    for name in filter(None, listed.stdout.split("\0")):
        path = ROOT / name
        if name.startswith(UNREAD) or path.is_symlink() or path.suffix in {".png", ".gz"}:
            continue
        yield name, JOINED.sub("", path.read_text(encoding="utf-8"))


def find_mistake(words: list[str], *, is_whole: bool) -> str | None:
    """What the command line would not take; of a command in a sentence the words after it are not looked at."""
    command: Any = typer.main.get_command(app)
    given = 0
    while words:
        word = words.pop(0)
        options = {name: one for one in command.params for name in (*one.opts, *one.secondary_opts)}
        if word.startswith("--"):
            name, is_set, _ = word.partition("=")
            if name not in options:
                return f"{command.name} has no {name}"
            if words and not is_set and not getattr(options[name], "is_flag", False):
                words.pop(0)
        elif hasattr(command, "commands"):
            if word not in command.commands:
                return f"{command.name} has no {word}"
            command = command.commands[word]
        elif is_whole:
            given += 1
    most = [one.nargs for one in command.params if one.param_type_name == "argument"]
    return f"{command.name} takes {most}" if -1 not in most and given > sum(most) else None


def mistakes() -> Iterator[tuple[str, str, str]]:
    for name, text in texts():
        commands = [(line, True) for line in QUOTED.findall(text)]
        if name.endswith(".md"):
            shown = re.findall(r"^```sh\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
            commands += [(line, True) for block in shown for line in TYPED.findall(block)]
        else:
            commands += [(line, False) for line in PLAIN.findall(text)]
        for line, is_whole in commands:
            only = re.split(r" \|| [<>]|…|\.\.\.|; | && ", re.sub(r"\{[^{}]*\}", "X", line))[0]
            words = shlex.split(only, comments=True) if is_whole else only.split()
            if why := find_mistake(words, is_whole=is_whole):
                yield name, line, why


def test_each_command_that_a_text_names_is_there() -> None:
    assert [*mistakes()] == []
