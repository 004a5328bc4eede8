"""Right values: which words of a correction can stand in the place of a wrong value.

They stand apart because a value is compared with another one here, whatever the fact is and whatever sign has led to it.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from difflib import SequenceMatcher

from mnestic.memory.knowledge.claims import name_key
from mnestic.memory.knowledge.corrections.signs import DASHES, LONGEST_VALUE, signs, without_signs
from mnestic.memory.language.date_mentions import find_dates
from mnestic.memory.language.dates import Period

_ALIKE = 0.6  # share of letters from which a value may be a misspelling of another
_EDGES = f" .,;:!?*{DASHES}"
_LISTED = re.compile(r"\s*,\s*(?:and\s+)?|\s+and\s+")
_ISO = re.compile(r"\d{4}-\d\d-\d\d")
_DAY = re.compile(r"\d{1,2} [A-Z][a-z]{2,8}")  # of a birthday
_FIRST_PART = re.compile("['\u2019]")  # what stands before it is a word: "I" of "I'm"
_LEAP = 2024  # a year that has all days
_ARTICLE = "the "  # an ordinal is a day with it alone


def kind_of(value: str) -> str:
    """What a value is by its looks: an address, a day, a number, a name or plain words."""
    if "@" in value:
        return "address"
    if _day(value) is not None:
        return "day"
    if any(map(str.isdigit, value)):
        return "number"
    return "name" if value[:1].isupper() else "words"


def right_values(text: str, old: str, *, is_first: bool = False) -> tuple[str, ...]:
    """The right values in place of an old one: of the same kind by their looks, and another; none if one is not.

    Args:
        text: One value, or a list of them.
        old: The wrong value.
        is_first: Whether the text begins a sentence, so that its capital says nothing.
    """
    whole = _right_value(text, old, is_first=is_first)
    parts = listed_values(text)
    if len(parts) <= 1:
        return () if whole is None else (whole,)
    found = [
        _right_value(part, old, is_first=is_first and not number)
        for number, part in enumerate(parts)
    ]
    known = tuple(value for value in found if value is not None)
    return known if len(known) == len(parts) else ()


def listed_values(text: str) -> list[str]:
    """The values of a list, such as "Danish, Dutch and Faroese"."""
    return [part.strip() for part in _LISTED.split(text) if part.strip()]


def _right_value(text: str, old: str, *, is_first: bool) -> str | None:
    fillers = re.compile(rf"^{signs().fillers}", re.IGNORECASE)
    named = without_signs(text)
    if _day(old) is not None:
        return _right_day(named, old)
    value = fillers.sub("", named).strip(_EDGES)
    words = value.split()
    while words and kind_of(words[0]) != kind_of(old) and kind_of(old) == "name":
        words = words[1:]  # "it is the town of Breda"
    value = " ".join(words)
    if is_first and kind_of(old) == "words" and value[1:].islower():
        value = value.lower()
    is_other = name_key(value) != name_key(old)
    is_clause = any(_FIRST_PART.split(word.lower())[0] in signs().pronouns for word in words)
    is_whole = bool(words) and len(words) <= LONGEST_VALUE and not is_clause
    return value if is_whole and is_other and kind_of(value) == kind_of(old) else None


def is_misspelt(old: str, new: str) -> bool:
    """Whether a wrong value may be a misspelling of the right one; numbers, days and addresses always may."""
    if kind_of(old) in {"number", "day", "address"}:
        return True
    return SequenceMatcher(None, old.casefold(), new.casefold()).ratio() >= _ALIKE


def means(text: str, value: str) -> bool:
    """Whether words mean a value: "the 12th" the birthday on 12 May."""
    named = _named_day(text, value)
    return named is not None and named == _day(value)


def _day(value: str) -> datetime | None:
    """The day that a value is, as facts write one."""
    for pattern, form, year in ((_ISO, "%Y-%m-%d", ""), (_DAY, "%d %B %Y", f" {_LEAP}")):
        if pattern.fullmatch(value):
            try:
                return datetime.strptime(value + year, form).replace(tzinfo=UTC)
            except ValueError:
                return None
    return None


def _right_day(text: str, old: str) -> str | None:
    """A day in place of another, written like that."""
    named = _named_day(text, old)
    if named is None or named == _day(old):
        return None
    return f"{named:%Y-%m-%d}" if _ISO.fullmatch(old) else f"{named.day} {named:%B}"


def _named_day(text: str, old: str) -> datetime | None:
    """The day that words name, the one next to another: "the 4th" is of its month."""
    near = _day(old)
    if near is None:
        return None
    days = [period.start for period in _periods(text, near) if period.unit == "day"]
    return min(days, key=lambda day: (abs(day - near), day < near), default=None)


def _periods(text: str, near: datetime) -> Iterator[Period]:
    words = text.strip(_EDGES)
    for written in (words, f"{_ARTICLE}{words}"):
        mentions = find_dates(written)
        if len(mentions) != 1 or not _is_whole(written, mentions[0].start, mentions[0].end):
            continue
        for moment in (near, near.replace(day=1), near.replace(day=1) - timedelta(days=1)):
            for tense in ("past", "future"):
                period = mentions[0].resolve(moment, tense)
                if period is not None:
                    yield period
        return


def _is_whole(text: str, start: int, end: int) -> bool:
    """Whether a date is all that words name, but for fillers before it."""
    fillers = re.compile(rf"\W*{signs().fillers}\W*", re.IGNORECASE)
    return fillers.fullmatch(f"{text[:start]} ") is not None and not text[end:].strip(_EDGES)
