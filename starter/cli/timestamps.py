"""Timestamps on the command line: dates and times, as people write them."""

from datetime import UTC, datetime

from mnestic.memory.errors import InvalidInputError
from mnestic.memory.language.date_mentions import find_dates


def parse_timestamp(text: str | None, *, what: str) -> datetime | None:
    """A time, or a day, month or year, which begins at midnight; in UTC unless it says otherwise.

    It may be in words that can mean one time only: "now", "yesterday", "3 days ago", "1 March 2026".
    None stays None.

    Raises:
        InvalidInputError: it is none.
    """
    if text is None:
        return None
    timestamp = _in_digits(text.strip()) or _in_words(text.strip(), now=datetime.now(UTC))
    if timestamp is None:
        why = (
            f"{text[:80]!r} is not a date or a time; write 2026-01-31, 2026-01-31T12:00Z, "
            "2026-01-31T12:00+02:00 or yesterday"
        )
        raise InvalidInputError(what=what, why=why)
    return timestamp


def _in_digits(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _in_words(text: str, *, now: datetime) -> datetime | None:
    if text.casefold() == "now":
        return now
    mentions = [mention for mention in find_dates(text) if mention.kind != "iso"]
    if len(mentions) != 1 or (mentions[0].start, mentions[0].end) != (0, len(text)):
        return None
    back, ahead = mentions[0].resolve(now, "past"), mentions[0].resolve(now, "future")
    if back is not None and ahead is not None and back != ahead:
        return None  # as in "Monday", which may be the last or the next
    timestamp = back or ahead
    return None if timestamp is None else timestamp.start
