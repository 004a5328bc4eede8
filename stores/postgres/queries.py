"""The statements, out of the files of `sql/`: a long one has a file, the short ones of a store share one.

Above each stands what it is for; in a shared file `-- name: NAME` begins it. Nothing is put into a statement but
parameters, by name (`%(name)s`). A line that ends with `-- if NAME` is left out where that value is None, and one that ends
with `-- include NAME` takes in the file of that name, for what several statements say alike.
"""

import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, Self

from psycopg import Connection, RawCursor
from psycopg.rows import namedtuple_row
from pydantic_core import PydanticSerializationError, to_json, to_jsonable_python

from mnestic.memory.canonical import check_json
from mnestic.memory.knowledge.facts import Interval

Query = tuple[str, Sequence[Any]]  # as Postgres takes it, with $1 and so on, and their values

_INCLUDE = re.compile(r"-- include (\w+)$", re.MULTILINE)
_COMMENT = re.compile(r"^\s*--.*\n", re.MULTILINE)
_FILTERED = re.compile(r"^(.*)-- if (\w+)$", re.MULTILINE)
_FILTER = re.compile(r"-- if (\w+)$", re.MULTILINE)
_NAME = re.compile(r"^-- name: (\w+)$", re.MULTILINE)
_PARAMETER = re.compile(r"%\((\w+)\)s")


class NamedQuery(NamedTuple):
    """A query as Postgres takes it, with the names of its parameters in their order.

    It is numbered once: psycopg would look for the names of a long query each time that it runs.
    """

    text: str
    parameters: tuple[str, ...]
    has_filters: bool = False  # lines that only stand if their value is given

    @classmethod
    def of(cls, text: str) -> Self:
        """Out of a text with named parameters."""
        names = tuple(dict.fromkeys(_PARAMETER.findall(text)))
        if _FILTER.search(text):
            return cls(text, names, has_filters=True)
        return cls(_PARAMETER.sub(lambda one: f"${names.index(one[1]) + 1}", text), names)

    def bind(self, values: Mapping[str, Any]) -> Query:
        """The query with a value for each parameter; others are left out."""
        if self.has_filters:
            wanted = frozenset(n for n in _FILTER.findall(self.text) if values[n] is not None)
            return _filtered(self.text, wanted).bind(values)
        return self.text, [_untyped(values[name]) for name in self.parameters]


@cache
def _filtered(text: str, wanted: frozenset[str]) -> NamedQuery:
    """A query with those of its filters that are wanted: each choice has a plan of its own."""
    return NamedQuery.of(_FILTERED.sub(lambda one: one[1] if one[2] in wanted else "", text))


def _untyped(value: Any) -> Any:
    """A value as its text, whose type Postgres takes from the statement.

    Of a number psycopg would say by its size which of three types it is, and of an empty list none, and a statement is
    prepared, and planned, once for each combination of types.
    """
    if isinstance(value, list):
        return [_untyped(one) for one in value]
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return value.isoformat()
    return str(value) if isinstance(value, int | float) else value


def read_query(name: str) -> NamedQuery:
    """A query without its comments: the only one of a file (`find_candidates`), or one of a store's (`waits.open`)."""
    file, _, statement = name.partition(".")
    return NamedQuery.of(_text(file) if not statement else _statements(file)[statement])


@cache
def _statements(file: str) -> dict[str, str]:
    _, *found = _NAME.split(_read(file))
    return {name: _plain(text) for name, text in zip(found[::2], found[1::2], strict=True)}


def _text(name: str) -> str:
    return _plain(_read(name))


def _plain(text: str) -> str:
    """A statement with what it includes, and without comments."""
    return _COMMENT.sub("", _INCLUDE.sub(lambda found: f"\n{_text(found[1])}", text))


def _read(file: str) -> str:
    return _files()[file].read_text(encoding="utf-8")


@cache
def _files() -> dict[str, Path]:
    """The files by their names, of which no two are the same; there is a folder for each capability."""
    return {path.stem: path for path in (Path(__file__).parent / "sql").rglob("*.sql")}


def fetch_rows(connection: Connection[Any], query: NamedQuery, **values: Any) -> list[Any]:
    """The rows of a query, as named tuples, in a session that is not of the pool."""
    cursor = RawCursor(connection, row_factory=namedtuple_row).execute(*query.bind(values))
    return cursor.fetchall() if cursor.description else []


def as_json(value: Any) -> str | None:
    """A value for a column of JSON; None stays null."""
    return None if value is None else json.dumps(value, ensure_ascii=False)


def packed(
    owner: Mapping[str, str], rows: Sequence[Mapping[str, Any]], *, what: str, name: str = "rows"
) -> dict[str, str]:
    """The parameters of a statement about many rows: the owner, and the rows as JSON under a name.

    Postgres reads them by the table's own types. A statement a row, however they are sent, costs Python and Postgres more than
    the row itself.

    Raises:
        InvalidInputError: a value cannot be stored; names the place.
    """
    try:
        document = to_json(rows).decode()
    except PydanticSerializationError:  # half of a surrogate pair
        document = "\\u0000"
    if "\\u0000" in document:  # or a text that contains these characters
        check_json(to_jsonable_python(rows), what=what)
    return {**owner, name: document}


def validity_parameters(interval: Interval | None) -> dict[str, Any]:
    """The parameters of queries for facts that were valid in an interval; without one, for those that are valid now."""
    if interval is None:
        return {"valid_first": None, "valid_last": None, "valid_predicates": []}
    return {
        "valid_first": interval.first,
        "valid_last": interval.last,
        "valid_predicates": sorted(interval.predicates),
    }
