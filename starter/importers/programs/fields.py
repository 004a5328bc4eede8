"""Fields of an object in an export, each of the type that is expected of it.

A value of another type must never pass for an empty one, whatever program wrote it.
"""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from mnestic.memory.errors import InvalidInputError
from mnestic.starter.importers.programs.items import Item, Unstorable

_Kind = TypeVar("_Kind", str, dict[str, Any], list[Any])
_TYPES = {str: "a text", dict: "an object", list: "a list", bool: "true or false"}


def read_object(value: object, read: Callable[[dict[str, Any]], Item], place: str) -> Item:
    """What is read of an object; skipped if it is none, or `read` refuses one of its fields."""
    if not isinstance(value, dict):
        return Unstorable(place, "is no object")
    try:
        return read(value)
    except InvalidInputError as error:
        return Unstorable(place, str(error).removeprefix(f"{place}: "))


def find(fields: Mapping[str, Any], name: str, kind: type[_Kind]) -> _Kind | None:
    """The value of a field; None if it is null or missing.

    Raises:
        InvalidInputError: it is of another type.
    """
    value = fields.get(name)
    if value is None or isinstance(value, kind):
        return value
    why = f"is {_TYPES.get(type(value), 'a number')}, not {_TYPES[kind]}"
    raise InvalidInputError(what=name, why=why)


def get(fields: Mapping[str, Any], name: str, kind: type[_Kind]) -> _Kind:
    """As `find`, but a field that is null or missing is refused too."""
    value = find(fields, name, kind)
    if value is None:
        raise InvalidInputError(what=name, why="is missing")
    return value


def find_id(fields: Mapping[str, Any], name: str = "id") -> str | None:
    """As `find`; an id is a text or a whole number."""
    value = fields.get(name)
    return (str(value) if type(value) is int else find(fields, name, str)) or None


def texts_of(fields: Mapping[str, Any], name: str, *keys: str) -> list[str | None]:
    """The parts of a list: texts, and objects with a text below one of some keys; None for one without a text."""
    parts = [part for part in find(fields, name, list) or () if part is not None]
    if not all(isinstance(part, (str, dict) if keys else str) for part in parts):
        raise InvalidInputError(what=name, why="has a part of another type than is expected")
    return [
        part
        if isinstance(part, str)
        else next(filter(None, (find(part, key, str) for key in keys)), None)
        for part in parts
    ]
