"""A text on standard input, where a command says `-`.

It stands alone because a pipe may hold anything, and every command refuses what is no text alike.
"""

import sys

from mnestic.memory.errors import InvalidInputError


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
