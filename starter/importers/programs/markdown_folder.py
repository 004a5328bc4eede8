"""Reads a folder of Markdown files, such as the vault of a program for notes.

Each file is a conversation of its own, and one that cannot be read hides no other.
"""

from collections.abc import Iterator
from pathlib import Path

from mnestic.memory.errors import InvalidInputError
from mnestic.starter.importers.conversations import MARKDOWN, read_conversation
from mnestic.starter.importers.markdown import NOTHING
from mnestic.starter.importers.programs.items import (
    ImportOptions,
    Item,
    LeftOut,
    Origin,
    Unstorable,
    message_of,
)
from mnestic.starter.importers.text_files import EXPECTED


class MarkdownFolder:
    """The files of a folder and of those in it, hidden ones left out. One file at a time is in memory."""

    format = "markdown"
    notes = ()

    def __init__(self, path: Path, options: ImportOptions) -> None:
        self._path, self._options = path, options

    def items(self) -> Iterator[Item]:
        """The messages, file by file."""
        for path in markdown_files(self._path):
            yield from self._items_of(path, str(path.relative_to(self._path)))

    def _items_of(self, path: Path, name: str) -> Iterator[Item]:
        refused: list[InvalidInputError] = []
        conversation = None
        try:
            conversation = read_conversation(
                path,
                author=self._options.speaker,
                owner=self._options.owner,
                name=name,
                refuse=refused.append,
            )
        except InvalidInputError as error:
            if not refused and error.why == NOTHING:
                yield LeftOut("empty file")
            elif not refused:
                refused.append(error)
        yield from (
            Unstorable(
                one.what.removeprefix("conversation "), one.why.removesuffix(f"; {EXPECTED}")
            )
            for one in refused
        )
        if conversation is None:
            return
        for session in conversation.sessions:
            for turn in session.turns:
                origin = Origin(
                    session_id=f"{name}/{session.source_id}",
                    source_id=turn.source_id,
                    channel=self._options.channel or self._path.resolve().name,
                    place=f"{name}, {turn.id}",
                )
                yield message_of(
                    origin,
                    speaker=turn.speaker,
                    text=turn.text,
                    at=turn.at,
                    entry_type=turn.entry_type,
                )


def markdown_files(folder: Path) -> Iterator[Path]:
    """What is called Markdown in a folder, in the order of the names; links, folders and what is hidden are passed over."""
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder).parts
        is_hidden = any(part.startswith(".") for part in inside)
        if (
            path.suffix.lower() in MARKDOWN
            and not is_hidden
            and not path.is_symlink()
            and not path.is_dir()
        ):
            yield path
