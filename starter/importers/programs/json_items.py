"""The objects of a JSON document of any size, one at a time: a list, a list within an object, or JSON lines.

A document of gigabytes must not be in memory whole, whatever program wrote it.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import ijson

from mnestic.memory.errors import InvalidInputError
from mnestic.starter.importers.programs.fields import read_object
from mnestic.starter.importers.programs.items import Item, Unstorable
from mnestic.starter.importers.programs.json_pieces import read_pieces, unmarked

_MOST_EVENTS, _MOST_OBJECTS = 100_000, 10  # of the first objects, in which keys are looked for
_LISTS = ("results", "memories", "items", "conversations")  # keys below which a dump has its list
_PLACES = ("", "item", *(f"{name}.item" for name in _LISTS))


class JsonShape(NamedTuple):
    """Where the objects of a document are, as a path of ijson, and the keys of the first ones."""

    prefix: str
    keys: frozenset[str]


def find_shape(path: Path, source: str) -> JsonShape | None:
    """The shape of a JSON document; None if it is none, or has no object.

    Raises:
        InvalidInputError: the document is beyond the limits of what is read.
    """
    prefix = None
    keys: set[str] = set()
    objects = 0
    try:
        events = ijson.parse(ijson.from_iter(read_pieces(path, source)), multiple_values=True)
        for at, event, value in islice(events, _MOST_EVENTS):
            if prefix is None and event == "start_map" and at in _PLACES:
                prefix = at
            elif not objects and prefix == "" and event == "start_array" and at in _LISTS:
                prefix, keys = None, set()  # the objects are in this list
            elif prefix is not None and at == prefix:
                keys |= {value} if event == "map_key" else set()
                objects += event == "end_map"
                if objects == _MOST_OBJECTS:
                    break
    except (OSError, ijson.JSONError, ValueError):
        if not keys:
            return None
    return None if prefix is None else JsonShape(prefix, frozenset(keys))


def read_items(
    path: Path,
    prefix: str,
    source: str,
    *,
    read: Callable[[int, dict[str, Any]], Iterable[Item]],
    place: str = "item",
) -> Iterator[Item]:
    """What is read of the objects below a path; whatever else is there is skipped, and hides no other.

    Args:
        path: The document.
        prefix: The path within it.
        source: How errors name it.
        read: Reads an object; it also gets its number.
        place: How what is skipped is named before its number.

    Raises:
        InvalidInputError: as of `read_objects`.
    """
    for number, item in _read_values(path, prefix, source):
        if isinstance(item, dict):
            yield from read(number, item)
        else:
            yield Unstorable(f"{place} {number}", "is no object")


def read_each(
    path: Path, prefix: str, source: str, *, read: Callable[..., Item], place: str = "item"
) -> Iterator[Item]:
    """As `read_items`, where each object is one item; `read` also gets its place."""
    for number, item in _read_values(path, prefix, source):
        at = f"{place} {number}"
        yield read_object(item, partial(read, place=at), at)


def read_objects(path: Path, prefix: str, source: str) -> Iterator[dict[str, Any]]:
    """The objects below a path, without what else is there.

    Raises:
        InvalidInputError: the file cannot be read, is no JSON any more, or is beyond the limits of what is read.
    """
    return (item for _, item in _read_values(path, prefix, source) if isinstance(item, dict))


def _read_values(path: Path, prefix: str, source: str) -> Iterator[tuple[int, Any]]:
    number = 0
    try:
        pieces = ijson.from_iter(read_pieces(path, source))
        items = ijson.items(pieces, prefix, multiple_values=True)
        for number, item in enumerate(items, start=1):
            yield number, unmarked(item)
    except OSError as error:
        raise InvalidInputError(what=source, why=f"cannot be read: {error.strerror}") from error
    except (ijson.JSONError, ValueError):  # ValueError: bytes that are no text
        why = f"is cut off or not JSON after item {number}; export it again"
        raise InvalidInputError(what=source, why=why) from None
