"""Somebody's file of text, line by line, with every line that is none named.

A file is bad in the same ways whatever is in it.
"""

from collections.abc import Iterator
from pathlib import Path

from mnestic.memory.errors import InvalidInputError
from mnestic.starter.importers.turns import Refuse, refuse_or_raise

MAX_BYTES = 256 * 1024 * 1024
EXPECTED = (
    "expected JSON lines of {role, content, timestamp, session?, tool?, entry_type?}, or LoCoMo's JSON: one sample or a "
    "list of samples; or Markdown, in a file named .md or with `memory ingest --markdown`; `memory import` reads exports of "
    "ChatGPT, Claude, Telegram, WhatsApp, Slack, mail (mbox), WebVTT, mem0 and LangGraph too"
)


def check_file(path: Path, source: str) -> None:
    """Refuses a path that is not a file, and a file that is too large.

    Raises:
        InvalidInputError: says which.
    """
    try:
        if not path.exists():
            raise InvalidInputError(what=source, why="there is no such file")
        if not path.is_file():
            raise InvalidInputError(what=source, why=f"is a folder, pipe or device; {EXPECTED}")
        if path.stat().st_size > MAX_BYTES:
            raise InvalidInputError(what=source, why=f"is larger than {MAX_BYTES // 2**20} MB")
    except (OSError, ValueError) as error:
        raise InvalidInputError(what=source, why=f"cannot be read: {error}") from error


def read_lines(path: Path, source: str, refuse: Refuse | None = None) -> Iterator[tuple[int, str]]:
    """The lines, each with its number, one at a time; blank ones too.

    Raises:
        InvalidInputError: the file cannot be read, or a line is not UTF-8 and `refuse` is None.
    """
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                try:
                    text = decode(line, f"{source}, line {number}")
                except InvalidInputError as error:
                    refuse_or_raise(error, refuse)
                else:
                    yield number, text
    except OSError as error:
        raise InvalidInputError(what=source, why=f"cannot be read: {error.strerror}") from error


def decode(content: bytes, source: str) -> str:
    """Text of UTF-8, without a byte order mark.

    Raises:
        InvalidInputError: names the byte that is none.
    """
    try:
        return content.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        why = f"byte {error.start + 1} is not UTF-8; {EXPECTED}"
        raise InvalidInputError(what=source, why=why) from error
