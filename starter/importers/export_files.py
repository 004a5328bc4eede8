"""Reads a file that `memory export` wrote, line by line, however long it is."""

from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError
from pydantic_core import from_json

from mnestic.memory.errors import InvalidInputError
from mnestic.memory.forgetting.export_lines import EXPORT_LINE, ExportLine
from mnestic.memory.validation import problem_of

_LONGEST_HEADER = 4096  # bytes


def is_export(path: Path) -> bool:
    """Whether the first line of a file is the header of an export."""
    try:
        with path.open("rb") as file:
            first = from_json(file.readline(_LONGEST_HEADER))
    except (OSError, ValueError):  # reading it as a conversation reports the error
        return False
    return isinstance(first, dict) and first.get("kind") == "export"


def read_export(path: Path, *, name: str) -> Iterator[ExportLine]:
    """The lines of an export.

    Args:
        path: The file.
        name: How errors name it.

    Raises:
        InvalidInputError: a line is none of an export; says which, and what is wrong with it.
    """
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                yield _line(line, what=f"{name}, line {number}")
    except OSError as error:
        raise InvalidInputError(what=name, why=f"cannot be read: {error.strerror}") from error


def _line(line: bytes, *, what: str) -> ExportLine:
    try:
        return EXPORT_LINE.validate_json(line)
    except ValidationError as error:
        why = problem_of(error).replace(" at line 1 column", " at column")
        raise InvalidInputError(what=what, why=why) from None
