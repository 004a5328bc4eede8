"""Values of requests: what every body and every time in a request is held to.

They stand apart from the routes because what no memory can store, such as half of a surrogate pair, is refused in one place.
"""

import math
from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, model_validator
from pydantic_core import PydanticCustomError

from mnestic.memory.canonical import check_text
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.timestamps import AwareTimestamp

UNSTORABLE = "unstorable"  # the type of what is refused within a body: its context has the path


class RequestBody(BaseModel):
    """A body: it has no unknown field, and only texts and numbers that JSON has and Postgres can store."""

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _check(cls, body: Any) -> Any:
        for path, value in _leaves(body):
            _check_leaf(value, path=path)
        return body


def _text(value: Any) -> Any:
    if not isinstance(value, str) or "-" not in value[1:]:  # pydantic reads numbers as well
        raise ValueError("is no time of ISO 8601 with an offset, such as 2026-11-27T09:00:00Z")
    return value


Timestamp = Annotated[AwareTimestamp, BeforeValidator(_text)]
"""A time of RFC 3339."""


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """The texts and numbers of a JSON document, names of members too, each with its path."""
    waiting = [(path, value)]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, dict):
            for name, member in value.items():
                yield path, name
                waiting.append((f"{path}.{name}".lstrip("."), member))
        elif isinstance(value, list):
            waiting += [(f"{path}.{at}".lstrip("."), item) for at, item in enumerate(value)]
        else:
            yield path, value


def _check_leaf(value: Any, *, path: str) -> None:
    if isinstance(value, str):
        try:
            check_text(value, what=path)
        except InvalidInputError as error:
            raise _unstorable(path, why=error.why) from None
    elif isinstance(value, float) and not math.isfinite(value):
        raise _unstorable(path, why=f"is {value}, which is no number of JSON")


def _unstorable(path: str, *, why: str) -> PydanticCustomError:
    return PydanticCustomError(UNSTORABLE, "{why}", {"path": path, "why": why})
