"""The canonical form of JSON: the same value is always the same bytes, and so the same hash.

Snapshots, operation keys and payload limits must agree on it to the byte.
"""

import hashlib
import json
import math
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from mnestic.memory.errors import InvalidInputError, PayloadTooLargeError
from mnestic.memory.invisible import is_invisible

DEEPEST = 64
"""Levels of a value; far below the limits of Python, Postgres and whatever reads JSON on the way."""
_LONGEST_INTEGER = 4096  # bits; Python refuses to read or write integers of 4,300 digits


def canonical_json(value: Any) -> bytes:
    """UTF-8 JSON with sorted keys and no white space.

    Raises:
        ValueError: the value holds NaN or an infinity.
        TypeError: the value is not made of JSON types.
    """
    text = json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )
    return text.encode()


def canonical_object(members: Mapping[str, bytes]) -> bytes:
    """The canonical form of an object whose values are in it already."""
    pairs = (canonical_json(name) + b":" + members[name] for name in sorted(members))
    return b"{" + b",".join(pairs) + b"}"


def sha256_hex(content: bytes) -> str:
    """SHA-256 as 64 lower-case hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()


def levels_of(value: Any) -> int:
    """How deep lists and objects are nested in a value; 0 for one that is neither."""
    if isinstance(value, dict):
        return 1 + max(map(levels_of, value.values()), default=0)
    if isinstance(value, (list, tuple)):
        return 1 + max(map(levels_of, value), default=0)
    return 0


def check_json(value: Any, *, what: str) -> None:
    """Refuses what JSON, UTF-8 or Postgres cannot keep.

    Raises:
        InvalidInputError: names the place inside the value and what is wrong there.
    """
    _check(value, what, depth=0)


def storable_json(value: Any, *, what: str, depth: int = 0) -> bytes:
    """The canonical form of a value that JSON, UTF-8 and Postgres can keep.

    Writing the value finds most of what cannot be kept. The value is walked only if something seems wrong, to name
    the place.

    Args:
        value: The value.
        what: What it is, for the error.
        depth: How many lists and objects it lies in.

    Raises:
        InvalidInputError: names the place inside the value and what is wrong there.
    """
    with suppress(TypeError, ValueError, RecursionError):  # the walk has better words for them
        content = canonical_json(value)
        if not may_contain_nul(content) and _is_regular(value, depth=depth):
            return content
    _check(value, what, depth=depth)
    return canonical_json(value)


def may_contain_nul(content: bytes) -> bool:
    """Whether a NUL character may be in a JSON text; otherwise the text speaks of its escape."""
    return b"\\u0000" in content


def check_size(value: Any, *, what: str, limit_bytes: int) -> None:
    """Refuses a value that is not storable or whose canonical form is over the limit.

    Raises:
        InvalidInputError: the value cannot be stored.
        PayloadTooLargeError: it is too large; says both sizes.
    """
    size = len(storable_json(value, what=what))
    if size > limit_bytes:
        raise PayloadTooLargeError(what=what, size_bytes=size, limit_bytes=limit_bytes)


def _is_regular(value: Any, *, depth: int) -> bool:
    """Whether all keys are text, no integer is too long, and nothing is nested too deep: `json` lets these pass."""
    level: list[Any] = [value]
    keys: list[Any] = []
    while level and depth <= DEEPEST:
        inner: list[Any] = []
        for each in level:
            if isinstance(each, str):  # most are
                continue
            if isinstance(each, dict):
                keys += each
                inner += each.values()
            elif isinstance(each, (list, tuple)):
                inner += each
            elif isinstance(each, int) and each.bit_length() > _LONGEST_INTEGER:
                return False
        level = inner
        depth += 1
    return not level and all(isinstance(key, str) for key in keys)


def _check(value: Any, path: str, *, depth: int) -> None:
    if depth > DEEPEST:
        raise InvalidInputError(what=path, why=f"is nested deeper than {DEEPEST} levels")
    if isinstance(value, str):
        check_text(value, what=path)
    elif isinstance(value, dict):
        for key, item in value.items():
            _check_key(key, path)
            _check(item, f"{path}.{key}", depth=depth + 1)
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            _check(item, f"{path}[{index}]", depth=depth + 1)
    else:
        _check_scalar(value, path)


def _check_key(key: Any, path: str) -> None:
    if not isinstance(key, str):
        raise InvalidInputError(what=path, why=f"has the key {key!r}, which is not text")
    check_text(key, what=path)


def _check_scalar(value: Any, path: str) -> None:
    if isinstance(value, float) and not math.isfinite(value):
        raise InvalidInputError(what=path, why=f"is {value}, which JSON does not have")
    if isinstance(value, int) and value.bit_length() > _LONGEST_INTEGER:
        raise InvalidInputError(what=path, why=f"is an integer of over {_LONGEST_INTEGER} bits")
    if value is not None and not isinstance(value, (bool, int, float)):
        raise InvalidInputError(what=path, why=f"is a {type(value).__name__}, not a JSON value")


def is_blank(text: str) -> bool:
    """Whether a text has nothing in it but blanks and invisible characters, such as a zero-width space."""
    return all(char.isspace() or is_invisible(char) for char in text)


def storable(text: str) -> str:
    """A text as Postgres can keep it: what `check_text` refuses is escaped."""
    return text.replace("\0", "\\x00").encode(errors="backslashreplace").decode()


def check_text(value: str, *, what: str) -> None:
    """Refuses text that Postgres cannot keep.

    Raises:
        InvalidInputError: the text holds a NUL, half of a surrogate pair or a byte that is not UTF-8.
    """
    if "\x00" in value:
        raise InvalidInputError(what=what, why="holds a NUL character, which cannot be stored")
    try:
        value.encode()
    except UnicodeEncodeError:
        # Python reads a byte that is none as half of a pair, wherever it is told to go on.
        why = "holds half of a surrogate pair or a byte that is not UTF-8, which is not text"
        raise InvalidInputError(what=what, why=why) from None
