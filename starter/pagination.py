"""All pages of a list, one after the other."""

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

_PAGE = 1000  # rows
Row = TypeVar("Row")


async def list_all(
    list_page: Callable[..., Awaitable[tuple[tuple[Row, ...], str | None]]],
    *args: Any,
    **query: Any,
) -> tuple[Row, ...]:
    """All items of a paged list that is called with these arguments."""
    rows: list[Row] = []
    cursor = None
    while True:
        page, cursor = await list_page(*args, **query, limit=_PAGE, cursor=cursor)
        rows.extend(page)
        if cursor is None:
            return tuple(rows)
