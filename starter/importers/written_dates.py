"""Finds a date in a heading, a property or a time: in ISO 8601, or with the month in English words.

Headings, front matter and single turns name dates in the same forms.
"""

import re
from datetime import UTC, datetime

from mnestic.memory.language.date_words import date_words
from mnestic.memory.timestamps import parse_timestamp

_ISO = re.compile(r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:Z|[+-]\d\d:\d\d)?)?")
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_MONTH = r"(?P<month>[A-Za-z]+)"
_YEAR = r"(?P<year>\d{4})\b"
_WITH_YEAR = (
    re.compile(rf"\b{_DAY} {_MONTH},? {_YEAR}"),
    re.compile(rf"\b{_MONTH} {_DAY},? {_YEAR}"),
)
_WITHOUT_YEAR = (
    re.compile(rf"\b{_DAY} {_MONTH}\b"),
    re.compile(rf"\b{_MONTH} {_DAY}(?![\d:])"),
)
_SHORTEST_MONTH = 3  # letters


def find_date(text: str) -> datetime | None:
    """The first date with a year, in UTC where it does not say otherwise.

    Raises:
        ValueError: It is none, or out of the range of what can be meant.
    """
    if iso := _ISO.search(text):
        return parse_timestamp(iso[0])
    words = _WITH_YEAR[0].search(text) or _WITH_YEAR[1].search(text)
    return None if words is None else _date_of(words, int(words["year"]))


def find_day_of_year(text: str, year: int) -> datetime | None:
    """The first day of a month, such as `6 May`, in a year.

    Raises:
        ValueError: It is none.
    """
    words = _WITHOUT_YEAR[0].search(text) or _WITHOUT_YEAR[1].search(text)
    return None if words is None else _date_of(words, year)


def _date_of(words: re.Match[str], year: int) -> datetime | None:
    month = _month(words["month"])
    if month is None:
        return None
    try:
        day = datetime(year, month, int(words["day"]), tzinfo=UTC)
    except ValueError:
        raise ValueError(f"{words[0]!r} is no date") from None
    return parse_timestamp(day)


def _month(word: str) -> int | None:
    """Its number, by its English name or the first three letters or more of it."""
    names = enumerate(date_words().month_names, start=1)
    meant = [number for number, name in names if name.startswith(word.lower())]
    return meant[0] if len(word) >= _SHORTEST_MONTH and meant else None
