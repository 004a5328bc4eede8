"""Checks the texts and times that callers pass to methods of the clients.

No method may forget it: a client that inherits `ChecksTexts` has the arguments of its public methods checked before
they run, those of new methods too.
"""

import inspect
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import datetime
from functools import wraps
from inspect import Parameter
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel

from mnestic.memory.canonical import check_text, is_blank
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.timestamps import check_moment

LONGEST_NAME = 10_000  # characters; callees check narrower limits
LONGEST_SHOWN = 80  # characters of a value that is refused
_FREE = "free"
FreeText = Annotated[str, _FREE]
"""A text with content: the method itself checks its length and whether it may be empty."""
_VARIADIC = (Parameter.VAR_KEYWORD, Parameter.VAR_POSITIONAL)


class ChecksTexts:
    """A client whose public methods accept only texts that can be stored, and times with an offset.

    A parameter of type `str` is a name or an id: not blank, and not endless. One of type `FreeText` is not
    held to that, nor are texts within values and models. Where a text is wanted, nothing else is given, and
    where one of some names is, no other.

    All methods raise `InvalidInputError` otherwise, which names the parameter; those of the names `unchecked` check by themselves.
    """

    def __init_subclass__(cls, *, unchecked: Collection[str] = (), **more: Any) -> None:
        super().__init_subclass__(**more)
        for name, member in list(vars(cls).items()):
            is_checked = not name.startswith("_") and name not in unchecked
            if inspect.isfunction(member) and is_checked:
                setattr(cls, name, _checked(member))


def _checked(function: Callable[..., Any]) -> Callable[..., Any]:
    """The method, which checks its arguments first."""
    arguments = _Arguments(function)
    if inspect.iscoroutinefunction(function):

        @wraps(function)
        async def run(*args: Any, **kwargs: Any) -> Any:
            arguments.check(args, kwargs)
            return await function(*args, **kwargs)

        return run

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        arguments.check(args, kwargs)
        return function(*args, **kwargs)

    return call


class _Arguments:
    """The parameters of a method, by how they are checked."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._signature = inspect.signature(function)
        parameters = self._signature.parameters.values()
        self._names = frozenset(parameter.name for parameter in parameters if _is_name(parameter))
        self._types = {
            parameter.name: types
            for parameter in parameters
            if (types := _types_of(parameter.annotation))
        }
        self._choices = {
            parameter.name: names
            for parameter in parameters
            if (names := _choices_of(parameter.annotation))
        }
        self._several = next(
            (
                parameter.name
                for parameter in parameters
                if parameter.kind is Parameter.VAR_POSITIONAL
            ),
            "",
        )
        self._more = next(
            (parameter.name for parameter in parameters if parameter.kind is Parameter.VAR_KEYWORD),
            "",
        )

    def check(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        """Refuses arguments with an invalid text; arguments that do not fit the signature are left to the call."""
        try:
            arguments = self._signature.bind(*args, **kwargs).arguments
        except TypeError:
            return
        for value in arguments.pop(self._several, ()):
            self._check_type(value, self._several)
            check_texts(value, self._several)
        for name, value in (arguments | arguments.pop(self._more, {})).items():
            self._check_type(value, name)
            if name in self._names and isinstance(value, str):
                _check_name(value, name)
            else:
                check_texts(value, name)

    def _check_type(self, value: Any, name: str) -> None:
        """Refuses a value of another type than text, and a name that is not among the choices."""
        if name in self._types and not isinstance(value, self._types[name]):
            why = f"is a {type(value).__name__}; give a text"
            raise InvalidInputError(what=name, why=why)
        if name in self._choices and value is not None:
            allowed = self._choices[name]
            parts = value if isinstance(value, (list, tuple, set, frozenset)) else (value,)
            for part in parts:
                if part not in allowed:
                    why = f"there is no {str(part)[:LONGEST_SHOWN]}; there are {', '.join(allowed)}"
                    raise InvalidInputError(what=name, why=why)


def _types_of(hint: Any) -> tuple[type, ...]:
    """The classes of a hint that is a text, or a union of text and other classes; else none."""
    parts = _parts(hint)
    return tuple(parts) if str in parts and all(isinstance(part, type) for part in parts) else ()


def _choices_of(hint: Any) -> tuple[str, ...]:
    """The names that a hint allows, itself or as parts of a collection; none if it allows others too."""
    (plain, *others) = [part for part in _parts(hint) if part is not NoneType] or [None]
    if others:
        return ()
    if isinstance(get_origin(plain), type) and issubclass(get_origin(plain), Collection):
        return _choices_of(get_args(plain)[0])
    return get_args(plain) if get_origin(plain) is Literal else ()


def _parts(hint: Any) -> list[Any]:
    """The members of a hint's union, without annotations."""
    if get_origin(hint) is Annotated:
        return _parts(get_args(hint)[0])
    if get_origin(hint) in {Union, UnionType}:
        return [part for parameter in get_args(hint) for part in _parts(parameter)]
    return [hint]


def _is_name(parameter: Parameter) -> bool:
    hint = parameter.annotation
    types = [hint, *get_args(hint)]  # the parameters of a callable are a list
    return parameter.kind not in _VARIADIC and str in types and FreeText not in types


def _check_name(text: str, what: str) -> None:
    check_text(text, what=what)
    if is_blank(text[:LONGEST_NAME]):
        raise InvalidInputError(what=what, why="is empty; leave it out, or give one")
    if len(text) > LONGEST_NAME:
        why = f"has {len(text)} characters, the limit is {LONGEST_NAME}"
        raise InvalidInputError(what=what, why=why)


def check_texts(value: Any, what: str) -> None:
    """Refuses a value that has an invalid text or time in it.

    Raises:
        InvalidInputError: names where.
    """
    if isinstance(value, str):
        check_text(value, what=what)
    elif isinstance(value, datetime):
        check_moment(value, what=what)
    elif isinstance(value, Mapping):
        for name in value:
            check_texts(name, what)
    for place, part in _parts_of(value):
        check_texts(part, f"{what}.{place}")


def _parts_of(value: Any) -> Iterable[tuple[object, Any]]:
    """The values within a value, each with its name or its place."""
    if isinstance(value, BaseModel):
        return ((name, getattr(value, name)) for name in type(value).model_fields)
    if isinstance(value, Mapping):
        return value.items()
    return enumerate(value) if isinstance(value, (list, tuple, set, frozenset)) else ()
