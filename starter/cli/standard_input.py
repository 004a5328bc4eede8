"""Reads texts that a command gets from standard input or a file instead of its arguments.

A pipe and a file may have any content, and every command refuses other content than text alike.
"""

import sys
from pathlib import Path

from mnestic.memory.errors import InvalidInputError

LARGEST_FILE_BYTES = 16 * 1024 * 1024  # far above what a payload or a record may have


def read_text(text: str) -> str:
    """The text itself, or for `-` the one on standard input, without the end of its last line.

    Raises:
        InvalidInputError: what is there is not UTF-8.
    """
    if text != "-":
        return text
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig").rstrip("\r\n")
    except UnicodeDecodeError as error:
        why = f"is not UTF-8: byte {error.start + 1}"
        raise InvalidInputError(what="standard input", why=why) from None


def read_file_argument(text: str, *, what: str) -> str | None:
    """The text of the file that an argument `@FILE` names, of standard input for `@-`; None for any other.

    Raises:
        InvalidInputError: the file cannot be read, is too large or is not UTF-8.
    """
    if not text.startswith("@"):
        return None
    if text == "@-":
        return read_text("-")
    path = Path(text[1:])
    try:
        if not path.is_file():
            why = "is not a file" if path.exists() else "there is no such file"
        elif path.stat().st_size > LARGEST_FILE_BYTES:
            why = f"is larger than {LARGEST_FILE_BYTES // 2**20} MiB"
        else:
            return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        why = f"is not UTF-8: byte {error.start + 1}"
    except (OSError, ValueError) as error:  # ValueError: a name that no file can have
        why = f"cannot be read: {getattr(error, 'strerror', None) or error}"
    raise InvalidInputError(
        what=f"{what} {text[:200]}",
        why=f"{why}; @ reads a file, text that begins with @ is written as a JSON string",
    ) from None
