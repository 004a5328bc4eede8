"""Pages of lists: each list takes `limit` and `cursor`, and answers with `items` and `next_cursor`."""

from typing import Annotated, Generic, TypeVar

from fastapi import Query
from pydantic import BaseModel, Field

Item = TypeVar("Item")
MOST_ITEMS = 1000
PageLimit = Annotated[
    int, Query(alias="limit", ge=1, le=MOST_ITEMS, description="The maximum number of items")
]
Cursor = Annotated[
    str | None, Query(description="The `next_cursor` of the previous page", max_length=2000)
]


class Page(BaseModel, Generic[Item]):
    """A part of a list, and where it goes on."""

    items: tuple[Item, ...]
    next_cursor: str | None = Field(description="For the next page; null on the last one")


def page_of(listed: tuple[tuple[Item, ...], str | None]) -> Page[Item]:
    """The page that a method of the client has listed."""
    items, next_cursor = listed
    return Page(items=items, next_cursor=next_cursor)
