"""Texts that are data: JSON, also within JSON, and lines of keys and values, as tools return them.

Nobody speaks in them: a name in one is what it is about, and a key belongs to the value behind it.
"""

import json
import re
from collections.abc import Iterator

_BRACKETS = {"{": "}", "[": "]"}
_LINE = re.compile(r"\s*(?:[-*]\s+)?[\w][\w .-]{0,40}:\s+\S.*")
_FEWEST = 2  # lines of keys and values
_DEEPEST = 8  # of JSON within JSON


def is_data(text: str) -> bool:
    """Whether a text is a JSON document, or lines of keys and values."""
    plain = text.strip()
    if _BRACKETS.get(plain[:1]) == plain[-1:]:
        return _parsed(plain) is not None
    lines = [line for line in plain.splitlines() if line.strip()]
    return len(lines) >= _FEWEST and all(map(_LINE.fullmatch, lines))


def flat_text(text: str) -> str:
    """A JSON document as lines of keys and values; any other text as it is."""
    document = _parsed(text)
    return text if document is None else "\n".join(_lines(document, depth=0))


def _parsed(text: str) -> object | None:
    """The object or list that a text is; None if it is no JSON document."""
    plain = text.strip()
    if not plain or _BRACKETS.get(plain[0]) != plain[-1]:
        return None
    try:
        document: object = json.loads(plain)
    except (ValueError, RecursionError):  # also of what begins with a bracket and is no JSON
        return None
    return document


def _lines(value: object, *, depth: int, key: str = "") -> Iterator[str]:
    if depth > _DEEPEST:
        return
    if isinstance(value, str) and (document := _parsed(value)) is not None:
        yield from _lines(document, depth=depth + 1, key=key)
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from _lines(item, depth=depth + 1, key=name)
    elif isinstance(value, list):
        for item in value:
            yield from _lines(item, depth=depth + 1, key=key)
    else:
        yield f"{key} {value}".strip()
