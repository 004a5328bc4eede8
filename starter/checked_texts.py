"""Texts as callers give them, checked where they come in: once for all methods of the clients.

It stands alone because no method may forget it: a client that inherits `ChecksTexts` has the arguments of its
public methods checked before they run, those of new methods too.
"""

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from inspect import Parameter
from typing import Annotated, Any, get_args

from pydantic import BaseModel

from mnestic.memory.canonical import check_text, is_blank
from mnestic.memory.errors import InvalidInputError

LONGEST_NAME = 10_000  # characters; narrower limits are checked where it is known what is named
_FREE = "free"
FreeText = Annotated[str, _FREE]
"""A text that says something: the method itself checks how long it may be, and whether it may be empty."""
_VARIADIC = (Parameter.VAR_KEYWORD, Parameter.VAR_POSITIONAL)


class ChecksTexts:
    """A client whose public methods are given texts that can be stored.

    A parameter of type `str` is a name or an id: not blank, and not endless. One of type `FreeText` is not
    held to that, nor are texts within values and models.

    All methods raise `InvalidInputError` otherwise, which names the parameter.
    """

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        for name, member in list(vars(cls).items()):
            if inspect.isfunction(member) and not name.startswith("_"):
                setattr(cls, name, _checked(member))


def _checked(function: Callable[..., Any]) -> Callable[..., Any]:
    """The method, which checks its arguments first."""
    arguments = _Arguments(function)
    if inspect.iscoroutinefunction(function):

        @wraps(function)
        async def run(*given: Any, **named: Any) -> Any:
            arguments.check(given, named)
            return await function(*given, **named)

        return run

    @wraps(function)
    def call(*given: Any, **named: Any) -> Any:
        arguments.check(given, named)
        return function(*given, **named)

    return call


class _Arguments:
    """The parameters of a method: which are names, and which hold others by theirs."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._signature = inspect.signature(function)
        parameters = self._signature.parameters.values()
        self._names = frozenset(one.name for one in parameters if _is_name(one))
        self._more = next((one.name for one in parameters if one.kind is Parameter.VAR_KEYWORD), "")

    def check(self, given: tuple[Any, ...], named: Mapping[str, Any]) -> None:
        """Refuses arguments with a text that cannot be; the call says itself which do not fit the method."""
        try:
            arguments = self._signature.bind(*given, **named).arguments
        except TypeError:
            return
        for name, value in (arguments | arguments.pop(self._more, {})).items():
            if name in self._names and isinstance(value, str):
                _check_name(value, name)
            else:
                _check(value, name)


def _is_name(parameter: Parameter) -> bool:
    hint = parameter.annotation
    types = {hint, *get_args(hint)}
    return parameter.kind not in _VARIADIC and str in types and FreeText not in types


def _check_name(text: str, what: str) -> None:
    check_text(text, what=what)
    if is_blank(text[:LONGEST_NAME]):
        raise InvalidInputError(what=what, why="is empty; leave it out, or say which is meant")
    if len(text) > LONGEST_NAME:
        why = f"has {len(text)} characters, the limit is {LONGEST_NAME}"
        raise InvalidInputError(what=what, why=why)


def _check(value: Any, what: str) -> None:
    """Refuses a value with a text in it that is none."""
    if isinstance(value, str):
        check_text(value, what=what)
    elif isinstance(value, BaseModel):
        for name in type(value).model_fields:
            _check(getattr(value, name), f"{what}.{name}")
    elif isinstance(value, Mapping):
        for name, part in value.items():
            _check(name, what)
            _check(part, f"{what}.{name}")
    elif isinstance(value, (list, tuple, set, frozenset)):
        for place, part in enumerate(value):
            _check(part, f"{what}.{place}")
