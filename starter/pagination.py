"""All pages of a list, one after the other."""

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

_PAGE = 1000  # rows
Row = TypeVar("Row")


async def list_all(
    list_page: Callable[..., Awaitable[tuple[tuple[Row, ...], str | None]]],
    *asked: str,
    **query: Any,
) -> tuple[Row, ...]:
    """All pages of a list that is asked for by these arguments."""
    rows: list[Row] = []
    cursor = None
    while True:
        page, cursor = await list_page(*asked, **query, limit=_PAGE, cursor=cursor)
        rows.extend(page)
        if cursor is None:
            return tuple(rows)
