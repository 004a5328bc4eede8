"""Parses values on the command line: JSON, text and pydantic types.

It needs pydantic, which `--help` does not load.
"""

import json
import shlex
from typing import Any

from pydantic import TypeAdapter, ValidationError

from mnestic.memory.canonical import check_json
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.validation import refused
from mnestic.starter.cli.standard_input import read_file_argument

_BEGINNINGS_OF_JSON = ("{", "[", '"')
_LONGEST_EXAMPLE = 80  # characters of a command that an error shows


def parse_value(text: str, *, what: str) -> Any:
    """A value from the command line: JSON, or text that does not look like JSON; `@FILE` reads a file.

    Raises:
        InvalidInputError: it begins as JSON does and is none, or it is more than JSON can be here.
    """
    file_text = read_file_argument(text, what=what)
    source, content = (what, text) if file_text is None else (f"{what} {text}", file_text)
    try:
        return _read_json(content, source)
    except json.JSONDecodeError as error:
        if not content.lstrip().startswith(_BEGINNINGS_OF_JSON):
            return content
        as_text = json.dumps(content, ensure_ascii=False)
        how = f": {shlex.quote(as_text)}" if len(as_text) <= _LONGEST_EXAMPLE else ""
        why = f"{_not_json(error)}; to store it as text, write it as a JSON string{how}"
        raise InvalidInputError(what=source, why=why) from None


def parse_as(kind: Any, text: Any, *, what: str) -> Any:
    """A value of a pydantic type, written as text or given as its parts; None stays None.

    Raises:
        InvalidInputError: it is no such value.
    """
    if text is None:
        return None
    try:
        return TypeAdapter(kind).validate_python(text)
    except ValidationError as error:
        raise refused(what, error) from None


def parse_json(text: str, *, what: str) -> Any:
    """A value that must be JSON; `@FILE` reads a file.

    Raises:
        InvalidInputError: says where it is not.
    """
    file_text = read_file_argument(text, what=what)
    source, content = (what, text) if file_text is None else (f"{what} {text}", file_text)
    try:
        return _read_json(content, source)
    except json.JSONDecodeError as error:
        raise InvalidInputError(what=source, why=_not_json(error)) from None


def _not_json(error: json.JSONDecodeError) -> str:
    line = f"line {error.lineno}, " if error.lineno > 1 else ""
    return f"is not JSON: {error.msg} at {line}character {error.colno}"


def _read_json(text: str, what: str) -> Any:
    def refuse(word: str) -> Any:
        raise InvalidInputError(what=what, why=f"holds {word}, which JSON does not have")

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(pairs) > len(members := dict(pairs)):
            names = [name for name, _ in pairs]
            twice = next(name for name in members if names.count(name) > 1)
            raise InvalidInputError(what=what, why=f"has {twice!r} twice in an object")
        return members

    try:
        value = json.loads(text, parse_constant=refuse, object_pairs_hook=unique)
        check_json(value, what=what)
    except json.JSONDecodeError:
        raise
    except RecursionError:
        raise InvalidInputError(what=what, why="is nested too deep") from None
    except ValueError:  # Python's limit on digits
        raise InvalidInputError(what=what, why="holds an integer that is too long") from None
    return value
