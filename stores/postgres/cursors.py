"""Cursors: where a page of a list ended, as opaque text."""

import base64
import binascii
import json
from datetime import datetime
from typing import Any

from mnestic.memory.canonical import check_text
from mnestic.memory.errors import EventsTrimmedError, InvalidInputError

LARGEST_PAGE = 1000  # rows
_LONGEST_NUMBER = 18  # digits of a bigint, at least


def encode_cursor(*parts: str) -> str:
    """A cursor that stands for the sort key of a page's last row."""
    return base64.urlsafe_b64encode(json.dumps(parts).encode()).decode()


def decode_cursor(cursor: str, *, parts: int) -> tuple[str, ...]:
    """The sort key that a cursor stands for.

    Raises:
        InvalidInputError: the cursor was not made by this list.
    """
    try:
        key = json.loads(base64.urlsafe_b64decode(cursor.encode()))
    except (binascii.Error, ValueError, RecursionError):
        key = None
    if not isinstance(key, list) or len(key) != parts:
        raise _foreign()
    for part in key:
        if not isinstance(part, str):
            raise _foreign()
        check_text(part, what="cursor")
    return tuple(key)


def decode_time_cursor(cursor: str) -> tuple[datetime, str]:
    """The instant and the id that a cursor of a list in the order of time stands for.

    Raises:
        InvalidInputError: the cursor was not made by this list.
    """
    text, row_id = decode_cursor(cursor, parts=2)
    return read_instant(text), row_id


def decode_number_cursor(cursor: str) -> int:
    """The number that a cursor of a list in the order of numbers stands for.

    Raises:
        InvalidInputError: the cursor was not made by this list.
    """
    (text,) = decode_cursor(cursor, parts=1)
    if not (text.isascii() and text.isdigit() and len(text) <= _LONGEST_NUMBER):
        raise _foreign()
    return int(text)


def read_instant(text: str) -> datetime:
    """The instant in a part of a cursor.

    Raises:
        InvalidInputError: the cursor was not made by this list.
    """
    try:
        instant = datetime.fromisoformat(text)
    except ValueError:
        raise _foreign() from None
    if instant.tzinfo is None:
        raise _foreign()
    return instant


def check_limit(limit: int) -> int:
    """Returns the limit of a page.

    Raises:
        InvalidInputError: it is not between 1 and `LARGEST_PAGE`.
    """
    if not 1 <= limit <= LARGEST_PAGE:
        raise InvalidInputError(what="limit", why=f"is {limit}; it is between 1 and {LARGEST_PAGE}")
    return limit


def _foreign() -> InvalidInputError:
    return InvalidInputError(what="cursor", why="was not given by this list; begin without one")


def check_place(after: int, *, stored: Any | None) -> None:
    """Refuses a place in a list of events, whose row `stored` has how many there were and the number of the first that is there.

    Raises:
        InvalidInputError: there has been no event of that number yet.
        EventsTrimmedError: some events after it are no longer there.
    """
    last = stored.events if stored else 0
    first = stored.first if stored and stored.first else last + 1
    if not 0 <= after <= last:
        raise InvalidInputError(what="after", why=f"is {after}; the last event is {last}")
    if after + 1 < first:
        raise EventsTrimmedError(after=after, first=first)
