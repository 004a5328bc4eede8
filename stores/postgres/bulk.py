"""Many rows in one statement: they travel as one JSON array, and Postgres reads them by the table's own types.

A statement a row, however they are sent, costs Python and Postgres more than the row itself.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic_core import PydanticSerializationError, to_json, to_jsonable_python

from mnestic.memory.canonical import check_json


def packed(
    owner: Mapping[str, str], rows: Sequence[Mapping[str, Any]], *, what: str, name: str = "rows"
) -> dict[str, str]:
    """The parameters of a statement about many rows: the owner, and the rows as JSON under a name.

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
