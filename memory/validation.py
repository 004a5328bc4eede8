"""What is wrong with a value that a model refuses, in words for the person who gave it."""

import math
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from typing import Annotated, Any, get_args

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, ValidationError
from pydantic_core import ErrorDetails

from mnestic.memory.canonical import check_text
from mnestic.memory.errors import InvalidInputError

OF_UNION = "of-union-"  # how the names of a union's members begin that no error shows
_HIDDEN = ("function-", "tagged-union", OF_UNION)  # names of a union's members say nothing
_TYPES = frozenset({"int", "str"})  # those of simple ones neither
_PLAINER = {
    "Field required": "is missing",
    "Extra inputs are not permitted": "is not known",
    "Input should be a valid tuple": "is no list",  # as whoever wrote it calls it
    "Input should be a valid list": "is no list",
    "Input should be a valid dictionary": "is no object",
    "Input should be a valid mapping": "is no object",
}


def problem_of(error: ValidationError) -> str:
    """The first problem, with its place but without the value."""
    first = error.errors(include_input=False, include_url=False)[0]
    message = message_of(first)
    place = ".".join(map(str, place_in(first["loc"])))
    return f"{place}: {message}" if place else message


def place_in(location: Iterable[str | int]) -> tuple[str | int, ...]:
    """The place of a problem, as whoever wrote the value sees it."""
    return tuple(
        part for part in location if part not in _TYPES and not str(part).startswith(_HIDDEN)
    )


def message_of(problem: ErrorDetails) -> str:
    """What is wrong, in words for whoever wrote the value."""
    if problem["type"] == "model_type":
        return "is no object"
    message = problem["msg"].removeprefix("Value error, ")
    return _PLAINER.get(message, message)


def refused(
    what: str, error: ValidationError, *, model: type[BaseModel] | None = None
) -> InvalidInputError:
    """The error to raise for a value that a model refuses; with the model, an unknown field's error names the nearest."""
    return InvalidInputError(what=what, why=problem_of(error) + _nearest_field(error, model))


def _nearest_field(error: ValidationError, model: type[BaseModel] | None) -> str:
    first = error.errors(include_input=False, include_url=False)[0]
    if model is None or first["type"] != "extra_forbidden":
        return ""
    nearest = nearest_field(model, place_in(first["loc"]))
    return f"; did you mean {nearest}?" if nearest else ""


def nearest_field(model: type[BaseModel], location: tuple[str | int, ...]) -> str | None:
    """The field that is meant by an unknown one, or None if none is like it."""
    *parents, unknown = location
    nearest = get_close_matches(str(unknown), [*fields_at(model, tuple(parents))], n=1)
    return nearest[0] if nearest else None


def fields_at(hint: Any, location: tuple[str | int, ...]) -> Iterator[str]:
    """The fields that a validator's path leads to; its parts are fields, places in lists and kinds of nodes."""
    models = list(models_in(hint))
    for model in models:
        fields = model.model_fields
        if not location:
            yield from fields
        elif location[0] in fields:
            yield from fields_at(fields[str(location[0])].annotation, location[1:])
        elif "kind" in fields and location[0] in get_args(fields["kind"].annotation):
            yield from fields_at(model, location[1:])
    if models and isinstance(next(iter(location), None), int):
        yield from fields_at(hint, location[1:])


def models_in(hint: Any) -> Iterator[type[BaseModel]]:
    """The models that a hint names."""
    if isinstance(hint, type) and issubclass(hint, BaseModel):
        yield hint
    for part in get_args(hint):
        yield from models_in(part)


def _number(value: Any) -> Any:
    if isinstance(value, float) and math.isnan(value):  # else it is said to be above 1
        raise ValueError("is nan, which is no number from 0 to 1")
    return value


def _storable(text: str) -> str:
    try:
        check_text(text, what="text")
    except InvalidInputError as error:
        raise ValueError(error.why) from None
    return text


Name = Annotated[str, Field(min_length=1, max_length=256)]
Share = Annotated[float, Field(ge=0, le=1), BeforeValidator(_number)]
Text = Annotated[str, AfterValidator(_storable)]
"""Text as Postgres can keep it."""
