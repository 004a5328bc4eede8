"""Moments on the command line: dates and times, as people write them."""

from datetime import UTC, datetime

from mnestic.memory.errors import InvalidInputError


def parse_moment(text: str | None, *, what: str) -> datetime | None:
    """A date, which begins at midnight, or a time; in UTC unless it says otherwise. None stays None.

    Raises:
        InvalidInputError: it is neither.
    """
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text.strip())
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        why = f"{text!r} is no date and no time; write 2026-01-31 or 2026-01-31T12:00Z"
        raise InvalidInputError(what=what, why=why) from None
