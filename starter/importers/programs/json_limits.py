"""Limits of a JSON document, looked for before a parser sees it.

They stand alone because the parser of documents of any size keeps the path to each value, which takes the square of the
depth in memory, and ends the process at a number that Python does not read.
"""

import re
from pathlib import Path

from mnestic.memory.errors import InvalidInputError

DEEPEST = 200  # levels; real exports have a dozen
MOST_DIGITS = 1000  # of a number
LONGEST_TEXT = 2**26  # bytes of one text
_CHUNK = 2**20
_DIGITS = re.compile(rb"\d++")
_NO_BRACKETS = bytes(sorted(set(range(256)) - set(b"[]{}")))


def check_json(path: Path, source: str) -> None:
    """Reads a file once, in pieces.

    Raises:
        InvalidInputError: it is nested too deep, or has too long a number or text.
        OSError: it cannot be read.
    """
    levels, is_in_text, length, rest = 0, False, 0, b""
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            chunk = rest + chunk
            rest = b"\\" * ((len(chunk) - len(chunk.rstrip(b"\\"))) % 2)  # its character comes next
            body = chunk[: len(chunk) - len(rest)]
            parts = body.replace(rb"\\", b"").replace(rb"\"", b"").split(b'"')
            first = 1 if is_in_text else 0
            outside = b'"'.join(parts[first::2])
            length = length + len(parts[0]) if is_in_text else 0
            if max(length, *map(len, parts[1 - first :: 2]), 0) > LONGEST_TEXT:
                raise InvalidInputError(what=source, why=f"has a text of over {LONGEST_TEXT} bytes")
            if max(map(len, _DIGITS.findall(outside)), default=0) >= MOST_DIGITS:
                why = f"has a number of {MOST_DIGITS} digits or more"
                raise InvalidInputError(what=source, why=why)
            for bracket in outside.translate(None, _NO_BRACKETS):
                levels += 1 if bracket in b"[{" else -1
                if levels > DEEPEST:
                    why = f"is nested deeper than {DEEPEST} levels"
                    raise InvalidInputError(what=source, why=why)
            if len(parts) > 1:
                length = len(parts[-1])
            is_in_text ^= len(parts) % 2 == 0
