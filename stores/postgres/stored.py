"""Stored rows as values, and the one error for those that somebody else has changed."""

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from mnestic.memory.errors import StoredValueError

Value = TypeVar("Value", bound=BaseModel)


def read_stored(kind: type[Value], columns: Mapping[str, Any], *, what: str) -> Value:
    """Reads a value out of its columns.

    Raises:
        StoredValueError: they do not make such a value.
    """
    try:
        return kind.model_validate(columns)
    except ValidationError as error:
        raise _unreadable(error, what) from None


def read_stored_json(kind: type[Value], document: str, *, what: str) -> Value:
    """Reads a value out of a JSON column that was selected as text: no dicts are made on the way.

    Raises:
        StoredValueError: it is no such value.
    """
    try:
        return kind.model_validate_json(document)
    except ValidationError as error:
        raise _unreadable(error, what) from None


def _unreadable(error: ValidationError, what: str) -> StoredValueError:
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"])
    return StoredValueError(what=what, why=f"{where}: {first['msg']}" if where else first["msg"])
