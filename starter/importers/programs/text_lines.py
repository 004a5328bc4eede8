"""The lines of a text of any size, one at a time, so that memory does not grow with the file.

It stands beside `text_files.py`, which reads what `memory ingest` takes, because an export of another program has no
largest size.
"""

from collections.abc import Iterator
from pathlib import Path

from mnestic.memory.errors import InvalidInputError

_LONGEST_PIECE = 8 * 1024 * 1024  # bytes; a message has at most 1 MiB


def read_text_lines(path: Path, source: str) -> Iterator[tuple[int, str]]:
    """The lines without their ends, each with its number.

    Raises:
        InvalidInputError: the file cannot be read, or a line is not UTF-8 or is too long; names it.
    """
    for number, line in read_byte_lines(path, source):
        if len(line) == _LONGEST_PIECE:
            why = f"is longer than {_LONGEST_PIECE // 2**20} MiB, so this is no such text"
            raise InvalidInputError(what=f"{source}, line {number}", why=why)
        try:
            yield number, line.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
        except UnicodeDecodeError as error:
            why = f"byte {error.start + 1} is not UTF-8; save the file as UTF-8"
            raise InvalidInputError(what=f"{source}, line {number}", why=why) from None


def read_byte_lines(path: Path, source: str) -> Iterator[tuple[int, bytes]]:
    """The lines with their ends, each with its number; one of more than 8 MiB comes in pieces.

    Raises:
        InvalidInputError: the file cannot be read.
    """
    try:
        with path.open("rb") as file:
            number, is_whole = 0, True
            while piece := file.readline(_LONGEST_PIECE):
                number += is_whole
                is_whole = piece.endswith(b"\n")
                yield number, piece
    except OSError as error:
        raise InvalidInputError(what=source, why=f"cannot be read: {error.strerror}") from error
