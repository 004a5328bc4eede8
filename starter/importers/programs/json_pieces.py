"""Limits of a JSON document, looked for before a parser sees it.

They stand alone because the parser of documents of any size keeps the path to each value, which takes the square of the
depth in memory, and ends the process at a number that Python does not read.
"""

from pathlib import Path

from mnestic.memory.errors import InvalidInputError
from mnestic.starter.json_structure import brackets_of, levels_of, longest_number, without_escapes

DEEPEST = 200  # levels; real exports have a dozen
MOST_DIGITS = 1000  # of a number
LONGEST_TEXT = 2**26  # bytes of one text
_CHUNK = 2**20


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
            parts = without_escapes(chunk[: len(chunk) - len(rest)]).split(b'"')
            first = 1 if is_in_text else 0
            outside = b'"'.join(parts[first::2])
            length = length + len(parts[0]) if is_in_text else 0
            if max(length, *map(len, parts[1 - first :: 2]), 0) > LONGEST_TEXT:
                raise InvalidInputError(what=source, why=f"has a text of over {LONGEST_TEXT} bytes")
            if longest_number(outside) >= MOST_DIGITS:
                why = f"has a number of {MOST_DIGITS} digits or more"
                raise InvalidInputError(what=source, why=why)
            highest, levels = levels_of(brackets_of(outside), above=levels)
            if highest > DEEPEST:
                why = f"is nested deeper than {DEEPEST} levels"
                raise InvalidInputError(what=source, why=why)
            if len(parts) > 1:
                length = len(parts[-1])
            is_in_text ^= len(parts) % 2 == 0
