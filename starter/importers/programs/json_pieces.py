"""A JSON document in pieces, each within limits and readable before a parser sees it.

The parser of documents of any size keeps the path to each value, which takes the square of the depth in memory, ends
the process at a number that Python does not read, ends the document at one like NaN, and writes "?" for half of a
surrogate pair. Numbers and halves like these are marked, and `unmarked` reads them as Python does.
"""

import re
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

from mnestic.memory.errors import InvalidInputError
from mnestic.starter.json_structure import brackets_of, levels_of, longest_number

DEEPEST = 200  # levels; real exports have a dozen
MOST_DIGITS = 1000  # of a number
LONGEST_TEXT = 2**26  # bytes of one text
_CHUNK = 2**20
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_MARK = "\ufdd0"  # Unicode leaves it to programs: no text has it
_NUMBER = re.compile(rb"-?(?:NaN|Infinity|\d[\d.]*[eE][-+]?\d{7,})")
_HIGH, _LOW = rb"\\u[dD][89abAB][\da-fA-F]{2}", rb"\\u[dD][c-fC-F][\da-fA-F]{2}"
_HALF = re.compile(
    rb"\\(u[dD](?:[89abAB][\da-fA-F]{2}(?!%b)|(?<!%b\\u[dD])[c-fC-F][\da-fA-F]{2}))" % (_LOW, _HIGH)
)
_MARKED_HALF = re.compile(f"{_MARK}u([0-9a-fA-F]{{4}})")
_LONGEST_TOKEN = MOST_DIGITS + 20
_UNFINISHED = re.compile(
    rb"(?:(?:%b)?(?:\\(?:u[\da-fA-F]{0,3})?)?|(?<![-+.\w\\])[-+.\w]+)\Z" % _HIGH
)


def read_pieces(path: Path, source: str) -> Iterator[bytes]:
    """Reads a file once.

    Raises:
        InvalidInputError: it is nested too deep, or has too long a number or text.
        OSError: it cannot be read.
    """
    levels, is_in_text, length = 0, False, 0
    for piece in filter(None, _whole_tokens(path)):
        parts = piece.split(b'"')
        first = 1 if is_in_text else 0
        outside = b'"'.join(parts[first::2])
        length = length + len(parts[0]) if is_in_text else 0
        if max(length, *map(len, parts[1 - first :: 2]), 0) > LONGEST_TEXT:
            raise InvalidInputError(what=source, why=f"has a text of over {LONGEST_TEXT} bytes")
        if longest_number(outside) >= MOST_DIGITS:
            raise InvalidInputError(
                what=source, why=f"has a number of {MOST_DIGITS} digits or more"
            )
        highest, levels = levels_of(brackets_of(outside), above=levels)
        if highest > DEEPEST:
            why = f"is nested deeper than {DEEPEST} levels"
            raise InvalidInputError(what=source, why=why)
        if len(parts) > 1:
            length = len(parts[-1])
        is_in_text ^= len(parts) % 2 == 0
        if _NUMBER.search(outside):
            marked = rb'"%b\g<0>"' % _MARK.encode()
            parts[first::2] = [_NUMBER.sub(marked, part) for part in parts[first::2]]
        yield _HALF.sub(rb"%b\1" % _MARK.encode(), b'"'.join(parts))


def _whole_tokens(path: Path) -> Iterator[bytes]:
    """A file in pieces that part no number and no surrogates; each quotation mark begins or ends a text."""
    rest = b""
    with path.open("rb") as file:
        if file.read(len(_BYTE_ORDER_MARK)) != _BYTE_ORDER_MARK:
            file.seek(0)
        while chunk := file.read(_CHUNK):
            chunk = rest + chunk
            odd = (len(chunk) - len(chunk.rstrip(b"\\"))) % 2  # its character comes next
            chunk = (
                chunk[: len(chunk) - odd].replace(rb"\\", rb"\u005c").replace(rb"\"", rb"\u0022")
            )
            found = _UNFINISHED.search(chunk, max(0, len(chunk) - _LONGEST_TOKEN))
            end = found.start() if found else len(chunk)
            rest = chunk[end:] + b"\\" * odd
            yield chunk[:end]
    yield rest


def unmarked(value: Any) -> Any:
    """A value as Python's parser reads it: numbers are whole ones or floats, and half of a surrogate pair is one."""
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, list):
        return [unmarked(each) for each in value]
    if isinstance(value, dict):
        return {_text(name): unmarked(each) for name, each in value.items()}
    if isinstance(value, str) and value.startswith(_MARK) and _NUMBER.fullmatch(value[1:].encode()):
        return float(value[1:])
    return _text(value) if isinstance(value, str) else value


def _text(text: str) -> str:
    return _MARKED_HALF.sub(lambda half: chr(int(half[1], 16)), text) if _MARK in text else text
