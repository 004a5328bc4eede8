"""Many rows in one statement: they travel as one JSON array, and Postgres reads them by the table's own types.

A statement a row, however they are sent, costs Python and Postgres more than the row itself.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic_core import PydanticSerializationError, to_json, to_jsonable_python
from sqlalchemy import Table, TextClause, text

from mnestic.memory.canonical import check_json

_OWNER = ("tenant_id", "agent_id")


def insert_rows(
    target: Table,
    *columns: str,
    now: Sequence[str] = (),
    returning: Sequence[str] = (),
    where_new: bool = False,
) -> TextClause:
    """A statement that inserts rows in their order.

    Args:
        target: The table.
        columns: Those that the rows have, beside their owner.
        now: Columns that get the time of the transaction.
        returning: Columns to return of each inserted row.
        where_new: Whether an existing row is skipped, instead of being an error.
    """
    into = ", ".join(f'"{name}"' for name in (*_OWNER, *columns, *now))
    values = ", ".join((":tenant_id", ":agent_id", *(f'r."{name}"' for name in columns)))
    suffix = " ON CONFLICT DO NOTHING" if where_new else ""
    suffix += f" RETURNING {', '.join(returning)}" if returning else ""
    return text(  # names of columns, which are in the code
        f"INSERT INTO {target} ({into}) SELECT {values}{', now()' * len(now)} "  # noqa: S608
        f"FROM {_rows(target)}{suffix}"
    )


def packed(
    owner: Mapping[str, str], rows: Sequence[Mapping[str, Any]], *, what: str, name: str = "rows"
) -> dict[str, str]:
    """The parameters of such a statement: the owner, and the rows as JSON under a name.

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


def _rows(target: Table) -> str:
    return f"json_populate_recordset(CAST(NULL AS {target}), CAST(:rows AS json)) AS r"
