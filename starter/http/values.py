"""Values of requests: what every body and every time in a request is held to.

What no memory can store, such as half of a surrogate pair, is refused in one place.
"""

import math
from collections.abc import Iterator
from typing import Annotated, Any, NamedTuple

from pydantic import BaseModel, BeforeValidator, ConfigDict, model_validator
from pydantic_core import PydanticCustomError

from mnestic.memory.canonical import check_text
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.timestamps import AwareTimestamp

_MOST_UNKNOWN = 20
UNSTORABLE = "unstorable"  # the type of what is refused within a body: its context has the path


class RequestBody(BaseModel):
    """A body: it has no unknown field, and only texts and numbers that JSON has and Postgres can store."""

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _check(cls, body: Any) -> Any:
        unknown = body.keys() - cls.model_fields.keys() if isinstance(body, dict) else set()
        if len(unknown) > _MOST_UNKNOWN:  # each would be an error of its own
            raise ValueError(f"has {len(unknown)} members that are not known")
        for place, value in _leaves(body):
            _check_leaf(value, place=place)
        return body


def _text(value: Any) -> Any:
    if not isinstance(value, str) or "-" not in value[1:]:  # pydantic reads numbers as well
        raise ValueError("is no time of ISO 8601 with an offset, such as 2026-11-27T09:00:00Z")
    return value


Timestamp = Annotated[AwareTimestamp, BeforeValidator(_text)]
"""A time of RFC 3339."""


class _Place(NamedTuple):
    """Where a value is: in what, and its name or number there. A path of text for each would take the square of a document."""

    inside: "_Place | None"
    name: str | int

    def __str__(self) -> str:
        names = list[str]()
        place: _Place | None = self
        while place is not None:
            names.append(str(place.name))
            place = place.inside
        return ".".join(reversed(names))


def _leaves(document: Any) -> Iterator[tuple[_Place | None, Any]]:
    """The texts and numbers of a JSON document, names of members too, each with its place."""
    waiting: list[tuple[_Place | None, Any]] = [(None, document)]
    while waiting:
        place, value = waiting.pop()
        if isinstance(value, dict):
            for name, member in value.items():
                yield place, name
                waiting.append((_Place(place, name), member))
        elif isinstance(value, list):
            waiting += [(_Place(place, at), item) for at, item in enumerate(value)]
        else:
            yield place, value


def _check_leaf(value: Any, *, place: _Place | None) -> None:
    path = "" if place is None else place
    if isinstance(value, str):
        try:
            check_text(value, what="text")
        except InvalidInputError as error:
            raise _unstorable(path, why=error.why) from None
    elif isinstance(value, float) and not math.isfinite(value):
        raise _unstorable(path, why=f"is {value}, which is no number of JSON")


def _unstorable(path: _Place | str, *, why: str) -> PydanticCustomError:
    return PydanticCustomError(UNSTORABLE, "{why}", {"path": str(path), "why": why})
