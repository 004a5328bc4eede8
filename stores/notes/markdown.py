"""A note as Obsidian reads it: its tags, and its text without its properties.

It is pure, and what a tag is has corners of its own.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any

import yaml

_FRONT = re.compile(
    r"\ufeff?---[ \t]*\r?\n(?P<yaml>.*?)^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE
)
_LONGEST_FRONT = 65_536  # characters
_PROPERTIES = frozenset({"tags", "tag"})
# A tag begins after a blank, and is no number.
_TAG = re.compile(r"(?<!\S)#(?=[\w/-]*[^\W\d])([\w/-]+)")
_FENCE = re.compile(
    r"^ {0,3}(?P<fence>`{3,}+|~{3,}+)[^\n]*+\n.*?(?:^ {0,3}(?P=fence)|\Z)", re.DOTALL | re.MULTILINE
)
_CODE = re.compile(r"(?<!`)(?P<ticks>`++)[^`\n]++(?P=ticks)(?!`)")
_NO_TAG = re.compile(r"[\W\d_]*|null|true|false", re.IGNORECASE)


def text_of(note: str) -> str:
    """A note without its properties."""
    found = _front(note)
    return note[found.end() if found else 0 :].strip("\ufeff \t\r\n")


def tags_of(note: str) -> frozenset[str]:
    """The tags of a note, of its properties and in its text but not in code; folded, without `#`."""
    body = _CODE.sub(" ", _FENCE.sub(" ", text_of(note)))
    inline = (match[1] for match in _TAG.finditer(body))
    return frozenset(tag.strip("/").casefold() for tag in (*_properties(note), *inline)) - {""}


def is_tagged(tags: Iterable[str], tag: str) -> bool:
    """Whether a tag is among those of a note, or one below it, such as `tag/part`."""
    wanted = tag.removeprefix("#").casefold()
    return any(found == wanted or found.startswith(f"{wanted}/") for found in tags)


def _front(note: str) -> re.Match[str] | None:
    return _FRONT.match(note[:_LONGEST_FRONT])


def _properties(note: str) -> Iterator[str]:
    found = _front(note)
    if found is None:
        return
    try:
        # With this loader all values are text, so none is a date that cannot be, and `<<` unfolds nothing.
        properties: Any = yaml.load(found["yaml"], Loader=yaml.BaseLoader)  # noqa: S506
    except (yaml.YAMLError, RecursionError, ValueError, OverflowError):  # the last two: an escape
        return  # Obsidian finds no tag in properties that are malformed either
    if not isinstance(properties, dict):
        return
    for name, value in properties.items():
        if name.casefold() not in _PROPERTIES:
            continue
        parts = re.split(r"[,\s]+", value) if isinstance(value, str) else value
        if isinstance(parts, list):
            tags = (part.strip().removeprefix("#") for part in parts if isinstance(part, str))
            yield from (tag for tag in tags if not _NO_TAG.fullmatch(tag))
