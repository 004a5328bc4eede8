"""Moments as people and programs write them: ISO 8601, or seconds since 1970."""

from datetime import UTC, datetime
from typing import Annotated

from pydantic import AfterValidator, AwareDatetime, BeforeValidator

from mnestic.memory.errors import InvalidInputError

_YEARS = range(1900, 3000)
_EXAMPLE = "2025-01-18T09:30:00Z"


def parse_timestamp(value: object) -> datetime:
    """An aware moment, in UTC where no offset is named; a day alone is its beginning.

    Raises:
        ValueError: it is no moment, or out of the range of what can be meant.
    """
    moment = _read(value)
    return _in_range(moment if moment.tzinfo else moment.replace(tzinfo=UTC))


def _in_range(moment: datetime) -> datetime:
    try:
        check_date(moment.astimezone(UTC), what="date")
    except OverflowError:
        raise ValueError(f"{moment.isoformat()} is out of range") from None
    except InvalidInputError as error:
        raise ValueError(error.why) from None
    return moment


def check_moment(moment: datetime, *, what: str) -> None:
    """Refuses a moment that names no offset, or that is none in UTC; callees check narrower ranges.

    Raises:
        InvalidInputError: says what is wrong with it.
    """
    if moment.utcoffset() is None:
        why = f"has no offset: {moment.isoformat()}; add one, as {_EXAMPLE} has"
        raise InvalidInputError(what=what, why=why)
    try:
        moment.astimezone(UTC)
    except OverflowError:
        why = f"{moment.isoformat()} is out of range"
        raise InvalidInputError(what=what, why=why) from None


def check_date(at: datetime, *, what: str) -> None:
    """Refuses a date at which nothing can have been said.

    Raises:
        InvalidInputError: says which dates there are.
    """
    if at.year not in _YEARS:
        why = f"is of the year {at.year}; it is from {_YEARS.start} to {_YEARS.stop - 1}"
        raise InvalidInputError(what=what, why=why)


def check_order(since: datetime | None, until: datetime | None) -> None:
    """Refuses a time that ends before it begins; one without an end, or without a beginning, does not.

    Raises:
        ValueError: it does.
    """
    if since is not None and until is not None and until < since:
        raise ValueError(f"until, {until.isoformat()}, is before since, {since.isoformat()}")


def _read(value: object) -> datetime:
    if isinstance(value, datetime):
        return value
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        try:
            return datetime.fromtimestamp(value, UTC)
        except (OverflowError, ValueError, OSError):
            why = "is no number of seconds since 1970 that can be meant; are they milliseconds?"
            raise ValueError(f"{value!r:.40} {why}") from None
    if not isinstance(value, str):
        raise ValueError(f"is no ISO 8601 text such as {_EXAMPLE}")  # noqa: TRY004 (pydantic's way)
    try:
        return datetime.fromisoformat(value.strip())
    except ValueError:
        raise ValueError(f"{value[:40]!r} is not ISO 8601, such as {_EXAMPLE}") from None


Timestamp = Annotated[datetime, BeforeValidator(parse_timestamp)]
AwareTimestamp = Annotated[AwareDatetime, AfterValidator(_in_range)]
"""A moment of a program: it names its offset."""
