"""Filters of records as SQL: `psycopg.sql` puts conditions together, and every value is a parameter.

A field is the same expression here as in the index of a schema, so that Postgres finds the one by the other. The view
`tenant_record` is why it may: below the policy of the table it looks up no condition on jsonb in an index.
"""

from collections.abc import Callable, Sequence
from typing import Any

from psycopg import sql

from mnestic.memory.jobs.long_term.filters import (
    KEY,
    METADATA,
    AllOf,
    AnyOf,
    Condition,
    FieldCondition,
    Not,
    Operator,
    QueryFilter,
)
from mnestic.stores.postgres.cursors import decode_cursor
from mnestic.stores.postgres.queries import NamedQuery, as_json

_COMPARED: dict[Operator, sql.SQL] = {
    "eq": sql.SQL("="),
    "ne": sql.SQL("<>"),
    "lt": sql.SQL("<"),
    "lte": sql.SQL("<="),
    "gt": sql.SQL(">"),
    "gte": sql.SQL(">="),
}
_KEY, _KEY_AS_JSON = sql.SQL("key"), sql.SQL("to_jsonb(key)")
_PAGE = sql.SQL(
    "SELECT namespace, key, version, value, created_at, updated_at, expires_at, metadata,"
    " jsonb_build_array({places}) AS places"
    " FROM mnestic.tenant_record"
    " WHERE tenant_id = {tenant_id} AND agent_id = {agent_id} AND namespace = {namespace}"
    " AND value IS NOT NULL AND (expires_at IS NULL OR expires_at > now()) AND {where}"
    " ORDER BY {by} LIMIT {limit}"
)


def field_expression(field: str) -> sql.Composable:
    """The value of a field as jsonb, null where it is not there."""
    if field == KEY:
        return _KEY_AS_JSON
    return sql.SQL("COALESCE({}, 'null'::jsonb)").format(_at(field))


def page_query(
    tenant_id: str, namespace: str, found: QueryFilter
) -> tuple[NamedQuery, dict[str, Any]]:
    """The statement of a page of records, one more than are wanted, and its values but for the owner.

    Tenant and namespace stand in it, so that Postgres knows which indexes are of them.

    Raises:
        InvalidInputError: the cursor is of another list.
    """
    conditions = _Conditions()
    where = sql.SQL("true") if found.where is None else conditions.of(found.where)
    fields = [field_expression(field) for field in found.order_by]
    if found.cursor is not None:
        *places, key = decode_cursor(found.cursor, parts=len(fields) + 1)
        after = sql.SQL("{} AND ({}) {} ({})")
        where = after.format(
            where,
            _listed([*fields, _KEY]),
            sql.SQL("<" if found.descending else ">"),
            _listed([*map(conditions.json, places), conditions.text(key)]),
        )
    direction = sql.SQL(" DESC" if found.descending else "")
    page = _PAGE.format(
        tenant_id=tenant_id,
        agent_id=sql.Placeholder("agent_id"),
        namespace=namespace,
        places=_listed(fields),
        where=where,
        by=_listed([one + direction for one in (*fields, _KEY)]),
        limit=found.limit + 1,
    )
    return numbered(page), conditions.values


def filter_of(where: Condition | None) -> tuple[sql.Composable, dict[str, Any]]:
    """A condition on columns `key`, `value` and `metadata`, and its values by name."""
    conditions = _Conditions()
    return sql.SQL("true") if where is None else conditions.of(where), conditions.values


def numbered(statement: sql.Composable) -> NamedQuery:
    """A statement as Postgres takes it: placeholders alone are parameters, whatever a name or a literal says."""
    numbers: dict[str, int] = {}

    def text(part: sql.Composable) -> str:
        if isinstance(part, sql.Composed):
            return "".join(map(text, part))
        if not isinstance(part, sql.Placeholder):
            return part.as_string()
        name = part.as_string().removeprefix("%(").removesuffix(")s")
        return f"${numbers.setdefault(name, len(numbers) + 1)}"

    return NamedQuery(text(statement), tuple(numbers))


def _listed(parts: Sequence[sql.Composable]) -> sql.Composable:
    return sql.SQL(", ").join(parts)


class _Conditions:
    """Conditions as SQL, with their values by name."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}

    def text(self, text: str) -> sql.Composable:
        """A text."""
        return sql.SQL("CAST({} AS text)").format(self._parameter(text))

    def json(self, text: str | None) -> sql.Composable:
        """A value that is written as JSON."""
        return sql.SQL("CAST({} AS jsonb)").format(self._parameter(text))

    def of(self, condition: Condition) -> sql.Composable:
        """A condition, in brackets."""
        if isinstance(condition, Not):
            return sql.SQL("(NOT {})").format(self.of(condition.condition))
        if isinstance(condition, AllOf):
            return self._joined(condition.all, " AND ")
        if isinstance(condition, AnyOf):
            return self._joined(condition.any, " OR ")
        special = _SPECIAL.get(condition.op)
        if special is not None:
            return special(self, condition)
        return self._compared(condition)

    def _joined(self, conditions: tuple[Condition, ...], by: str) -> sql.Composable:
        inside = sql.SQL(by).join(self.of(one) for one in conditions)
        return sql.SQL("({})").format(inside)

    def _compared(self, one: FieldCondition) -> sql.Composable:
        value = as_json(one.value) if one.value is not None else "null"
        compared = sql.SQL("{} {} {}").format(
            field_expression(one.field), _COMPARED[one.op], self.json(value)
        )
        if one.op in {"eq", "ne"}:
            return sql.SQL("({})").format(compared)
        kind = "string" if isinstance(one.value, str) else "number"
        return sql.SQL("({} AND jsonb_typeof({}) = {})").format(
            compared, field_expression(one.field), kind
        )

    def listed(self, one: FieldCondition) -> sql.Composable:
        """The field is one of a list."""
        listed = self.json(as_json([*one.value]))
        return sql.SQL("({} IN (SELECT jsonb_array_elements({})))").format(
            field_expression(one.field), listed
        )

    def contains(self, one: FieldCondition) -> sql.Composable:
        """A list has the value, an object its members, or a text the text."""
        field = field_expression(one.field)
        value = as_json(one.value) if one.value is not None else "null"
        inside = sql.SQL("{} @> {}").format(field, self.json(value))
        if not isinstance(one.value, str):
            return sql.SQL("({})").format(inside)
        return sql.SQL(
            "({inside} OR (jsonb_typeof({field}) = 'string'"
            " AND position(lower({text}) IN lower({field} #>> '{{}}')) > 0))"
        ).format(inside=inside, field=field, text=self.text(one.value))

    def has_words(self, one: FieldCondition) -> sql.Composable:
        """Its words are those of a query."""
        return sql.SQL(
            "(jsonb_to_tsvector('simple', {}, '[\"string\"]')"
            " @@ websearch_to_tsquery('simple', {}))"
        ).format(field_expression(one.field), self.text(one.value))

    def exists(self, one: FieldCondition) -> sql.Composable:
        """The field is there, or is not."""
        if one.field == KEY:
            return sql.SQL("true" if one.value else "false")
        sign = sql.SQL("IS NOT NULL" if one.value else "IS NULL")
        return sql.SQL("({} {})").format(_at(one.field), sign)

    def _parameter(self, value: str | None) -> sql.Composable:
        name = f"value_{len(self.values)}"
        self.values[name] = value
        return sql.Placeholder(name)


_SPECIAL: dict[Operator, Callable[[_Conditions, FieldCondition], sql.Composable]] = {
    "in": _Conditions.listed,
    "contains": _Conditions.contains,
    "text": _Conditions.has_words,
    "exists": _Conditions.exists,
}


def _at(field: str) -> sql.Composable:
    """What is at a path of the value or the metadata; SQL's null if nothing is."""
    column, path = "value", field.split(".") if field else []
    if path[:1] == [METADATA]:
        column, path = "metadata", path[1:]
    return sql.SQL("({} #> {}::text[])").format(sql.Identifier(column), sql.Literal(path))
