"""Computes the times of a session's turns from the times beside their speakers' names.

A time in a transcript is a time of day or the time since a recording began.
"""

import re
from collections.abc import Sequence
from datetime import UTC, datetime, time, timedelta, tzinfo
from typing import NamedTuple

from mnestic.memory.timestamps import parse_timestamp
from mnestic.starter.importers.written_dates import find_date, find_day_of_year

_CLOCK = re.compile(
    r"(?<!\d)(?P<first>\d{1,3})[:h](?P<second>\d\d)(?::(?P<third>\d\d))?(?:[.,]\d{1,3})?"
    r"(?:[ \u00a0\u202f]?(?P<half>[AaPp])\.?[Mm]\b)?(?P<offset>Z\b|[ ]?(?:UTC|GMT)\b|[+-]\d\d:\d\d)?"
)
_DAY_IN_NUMBERS = re.compile(r"(?<![\d:.])\d{1,2}(?:[-/.]\d{1,2}[-/.]\d{2,4}|/\d{1,2})(?![\d:])")
_YEAR_FIRST = re.compile(r"(?<!\d)(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?![\d:])")
_YESTERDAY = re.compile(r"\byesterday\b", re.IGNORECASE)
_HOURS = 24
_SIXTY = 60
_HALF_A_DAY = timedelta(hours=12)
_MINUTE = timedelta(minutes=1)
_SECOND = timedelta(seconds=1)


class _Clock(NamedTuple):
    """A time as it is written: hours and minutes, or minutes and seconds where it counts from a beginning."""

    first: str
    second: int
    third: int | None
    half: str
    zone: tzinfo | None

    def __str__(self) -> str:
        """The numbers as they are written."""
        end = "" if self.third is None else f":{self.third:02}"
        return f"{self.first}:{self.second:02}{end}"

    @property
    def is_of_day(self) -> bool:
        """Whether only a time of day is written like this."""
        return bool(self.half) or self.zone is not None

    @property
    def begins_recording(self) -> bool:
        """Whether a recording that has just begun shows it."""
        return not self.is_of_day and (
            self.first == "0" or (self.first == "00" and self.third is not None)
        )

    @property
    def is_minutes(self) -> bool:
        """Whether it is minutes and seconds, since no day has so many hours."""
        return self.third is None and int(self.first) >= _HOURS and self.second < _SIXTY

    @property
    def elapsed(self) -> timedelta:
        """The time since the recording began.

        Raises:
            ValueError: It is none.
        """
        first, third = int(self.first), self.third
        if max(self.second, third or 0) >= _SIXTY:
            raise ValueError(f"{self} is no time")
        if third is None:
            return timedelta(minutes=first, seconds=self.second)
        return timedelta(hours=first, minutes=self.second, seconds=third)

    @property
    def time(self) -> time:
        """The time of day.

        Raises:
            ValueError: It is none.
        """
        hour = int(self.first)
        if self.half:
            hour = hour % 12 + (12 if self.half == "p" else 0)
        try:
            return time(hour, self.second, self.third or 0)
        except ValueError:
            raise ValueError(f"{self} is no time of day") from None


class TurnTimes:
    """The times of the turns of one session, one after the other as in the file."""

    def __init__(self, begins: datetime, times: Sequence[str | None]) -> None:
        """Of a session that begins at a time, and all times that its turns name."""
        self._begins = begins
        self._last: datetime | None = None
        clocks = [clock for when in times if when and (clock := _find_clock(when))]
        self._is_elapsed = not any(clock.is_of_day for clock in clocks) and (
            any(clock.begins_recording for clock in clocks[:1])
            or any(clock.is_minutes for clock in clocks)
        )

    def next(self, when: str | None) -> datetime:
        """The time of the next turn; one without a time follows the one before by a second.

        Raises:
            ValueError: The time is none, or it is not clear which day it is.
        """
        spoken_at = None if when is None else self._time_of(when)
        if spoken_at is None:
            spoken_at = self._begins if self._last is None else self._last + _SECOND
        self._last = parse_timestamp(spoken_at)
        return self._last

    def _time_of(self, when: str) -> datetime | None:
        clock = _find_clock(when)
        if clock is None:
            return None
        return self._after(self._on_day(_find_day(when, near=self._begins), clock))

    def _on_day(self, day: datetime | None, clock: _Clock) -> datetime:
        if self._is_elapsed and day is None:
            return self._begins + clock.elapsed
        last = self._last or self._begins
        zone = clock.zone or self._begins.tzinfo or UTC
        spoken_at = datetime.combine(day or last.astimezone(zone), clock.time, tzinfo=zone)
        if day is None and self._last is not None and last - spoken_at > _HALF_A_DAY:
            spoken_at += timedelta(days=1)  # past midnight
        return spoken_at

    def _after(self, spoken_at: datetime) -> datetime:
        """The time, moved after the last turn: written times have minutes, and turns of one minute stay in order."""
        if self._last is not None and timedelta(0) <= self._last - spoken_at < _MINUTE:
            return self._last + _SECOND
        return spoken_at


def _find_clock(when: str) -> _Clock | None:
    found = _CLOCK.search(when)
    if found is None:
        return None
    third = None if found["third"] is None else int(found["third"])
    half = (found["half"] or "").lower()
    return _Clock(found["first"], int(found["second"]), third, half, _zone_of(found["offset"]))


def _zone_of(offset: str | None) -> tzinfo | None:
    if offset is None:
        return None
    return (
        UTC if offset[-1] in "ZCT" else datetime.fromisoformat(f"2000-01-01T00:00{offset}").tzinfo
    )


def _find_day(when: str, *, near: datetime) -> datetime | None:
    """The day that a time names; one without a year is of the year of the session.

    Raises:
        ValueError: It is none, or the order of day and month is not clear.
    """
    if year_first := _YEAR_FIRST.search(when):
        year, month, day = map(int, year_first.groups())
        return find_date(f"{year:04}-{month:02}-{day:02}")
    if _YESTERDAY.search(when):
        raise ValueError(f"{when[:40]!r} does not say of which day; write it as 2025-01-18 10:32")
    if numbers := _DAY_IN_NUMBERS.search(when):
        why = "may be day and month or month and day; write it as 2025-01-18"
        raise ValueError(f"{numbers[0]!r} {why}")
    return find_date(when) or find_day_of_year(when, near.year)
