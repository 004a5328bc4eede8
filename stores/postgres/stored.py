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
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise StoredValueError(what=what, why=f"{where}: {first['msg']}") from None
