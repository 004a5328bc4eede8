"""Queries too long to read inline: a file of `sql/` each, with what it is for above it.

A line that ends with `-- include NAME` takes in the file of that name, for what several queries say alike. Nothing else is
put into a query but parameters, by name (`%(name)s`).
"""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple, Self

from mnestic.memory.knowledge.facts import Interval

Query = tuple[str, Sequence[Any]]  # as Postgres takes it, with $1 and so on, and their values

_INCLUDE = re.compile(r"-- include (\w+)$", re.MULTILINE)
_COMMENT = re.compile(r"^\s*--.*\n", re.MULTILINE)
_PARAMETER = re.compile(r"%\((\w+)\)s")


class NamedQuery(NamedTuple):
    """A query as Postgres takes it, with the names of its parameters in their order.

    It is numbered once: psycopg would look for the names of a long query each time that it runs.
    """

    text: str
    parameters: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> Self:
        """Out of a text with named parameters."""
        names = tuple(dict.fromkeys(_PARAMETER.findall(text)))
        return cls(_PARAMETER.sub(lambda one: f"${names.index(one[1]) + 1}", text), names)

    def bind(self, values: Mapping[str, Any]) -> Query:
        """The query with a value for each parameter; others are left out."""
        return self.text, [_untyped(values[name]) for name in self.parameters]


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
    """A query, without its comments."""
    return NamedQuery.of(_text(name))


def _text(name: str) -> str:
    text = (Path(__file__).parent / "sql" / f"{name}.sql").read_text(encoding="utf-8")
    included = _INCLUDE.sub(lambda found: f"\n{_text(found[1])}", text)
    return _COMMENT.sub("", included)


def validity_parameters(interval: Interval | None) -> dict[str, Any]:
    """The parameters of queries for facts that were valid in an interval; without one, for those that are valid now."""
    if interval is None:
        return {"valid_first": None, "valid_last": None, "valid_predicates": []}
    return {
        "valid_first": interval.first,
        "valid_last": interval.last,
        "valid_predicates": sorted(interval.predicates),
    }
