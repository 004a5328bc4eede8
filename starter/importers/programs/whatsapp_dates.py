"""Decides in which order a WhatsApp export writes day and month, from all of its dates.

A phone writes dates as its region does, and no single line says which region that is.
"""

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import NamedTuple

from mnestic.memory.errors import InvalidInputError
from mnestic.starter.importers.programs.items import DateOrder

_SPACE = r"[ \u00a0\u202f]"
STAMP = (
    rf"(?P<first>\d{{1,4}})(?P<dash>[./-]){_SPACE}?(?P<second>\d{{1,2}})(?P=dash){_SPACE}?(?P<third>\d{{1,4}})\.?"
    rf",?{_SPACE}{{1,3}}(?P<hour>\d{{1,2}})[:.](?P<minute>\d\d)(?:[:.](?P<second_of>\d\d))?"
    rf"(?:{_SPACE}?(?P<half>[AaPp])\.?{_SPACE}?[Mm]\.?)?"
)
_DAYS, _MONTHS, _HALF_DAY, _CENTURY = 31, 12, 12, 100
_YEAR_DIGITS = 4
_CLOCK_SET_BACK = timedelta(hours=25)  # a traveller's clock, or messages that arrived late


class Stamp(NamedTuple):
    """The date and time of a line, as the file writes them."""

    line: int
    first: int
    second: int
    third: int
    is_year_first: bool
    has_dots: bool
    hour: int
    minute: int
    second_of: int

    def at(self, order: DateOrder) -> datetime:
        """The time on the phone's clock.

        Raises:
            ValueError: it is none.
        """
        if self.is_year_first:
            year, month, day = self.first, self.second, self.third
        else:
            year = self.third if self.third >= _CENTURY else 2000 + self.third
            day, month = self.first, self.second
            if order == "month-first":
                day, month = month, day
        return datetime(year, month, day, self.hour, self.minute, self.second_of)  # noqa: DTZ001 - the phone's zone is not in the file


def stamp_of(match: re.Match[str], line: int) -> Stamp:
    """The stamp that `STAMP` has matched."""
    hour, half = int(match["hour"]), match["half"]
    if half is not None:
        hour = hour % _HALF_DAY + (_HALF_DAY if half in "Pp" else 0)
    return Stamp(
        line=line,
        first=int(match["first"]),
        second=int(match["second"]),
        third=int(match["third"]),
        is_year_first=len(match["first"]) == _YEAR_DIGITS,
        has_dots=match["dash"] == ".",
        hour=hour,
        minute=int(match["minute"]),
        second_of=int(match["second_of"] or 0),
    )


def find_order(stamps: Iterator[Stamp], source: str) -> DateOrder:
    """The order of day and month in a file.

    A number above 12 is no month. Without one, dots stand in dates of day and month, and otherwise the order in
    which time does not run backwards is the right one.

    Raises:
        InvalidInputError: both orders fit, or none does; says what to do.
    """
    evidence = _Evidence()
    for stamp in stamps:
        evidence.add(stamp, source)
    return evidence.order(source)


class _Evidence:
    """What the lines up to now say about the order."""

    def __init__(self) -> None:
        self._day_first: Stamp | None = None
        self._month_first: Stamp | None = None
        self._sample: Stamp | None = None
        self._latest: dict[DateOrder, datetime] = {}
        self._setbacks: dict[DateOrder, int] = {"day-first": 0, "month-first": 0}
        self._all_dots = True

    def add(self, stamp: Stamp, source: str) -> None:
        if stamp.is_year_first:
            return
        self._sample = self._sample or stamp
        self._all_dots &= stamp.has_dots
        if stamp.first > _MONTHS:
            self._day_first = self._day_first or stamp
        if stamp.second > _MONTHS:
            self._month_first = self._month_first or stamp
        if self._day_first and self._month_first:
            first, second = sorted((self._day_first.line, self._month_first.line))
            why = f"is a date of day and month, line {second} one of month and day; import the two parts separately"
            raise InvalidInputError(what=f"{source}, line {first}", why=why)
        if not (self._day_first or self._month_first):
            self._compare(stamp)

    def _compare(self, stamp: Stamp) -> None:
        for order in self._setbacks:
            try:
                at = stamp.at(order)
            except ValueError:
                continue  # the reader names the line
            if at < self._latest.get(order, at) - _CLOCK_SET_BACK:
                self._setbacks[order] += 1
            self._latest[order] = at

    def order(self, source: str) -> DateOrder:
        if self._sample is None or self._day_first:
            return "day-first"
        if self._month_first:
            return "month-first"
        if self._all_dots:
            return "day-first"
        day_first, month_first = self._setbacks["day-first"], self._setbacks["month-first"]
        if (day_first == 0) != (month_first == 0):
            return "day-first" if day_first == 0 else "month-first"
        shown = f"{self._sample.first} and {self._sample.second}"
        why = f"{shown} may be day and month or month and day; say which by --date-order day-first or month-first"
        raise InvalidInputError(what=f"{source}, line {self._sample.line}", why=why)
