"""Periods: the time that a query means, out of the dates that it names.

"before March" and "between March and May" are other times than March.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise

from mnestic.memory.knowledge.claims import YEARS
from mnestic.memory.language.date_mentions import find_dates
from mnestic.memory.language.date_words import date_words
from mnestic.memory.language.dates import DateMention, Period, Tense

_AHEAD = timedelta(days=366)  # the end of what comes after a future time
_YEARS = 10  # how far a day without a year may lie back
_LATEST = datetime(YEARS.stop, 1, 1, tzinfo=UTC)  # nobody means a later time
_A_MONTH = timedelta(days=31)  # before its end is no earlier end of May
# Before the subject of a question; the names of these kinds of dates may be people's.
_DOES = re.compile(r"\b(?:do|does|did|has|had)\s+$", re.IGNORECASE)
_IS = re.compile(
    r"^(?!.*\b(?:was|were|did|had|ago|last)\b).*\b(?:is|are|will)\b", re.IGNORECASE | re.DOTALL
)
_DAYS = frozenset({"day_month", "month_day"})
_NAMES_TOO = frozenset({"weekday", "month", "season"})
_FIGURES = ("%Y-%m-%d", "%Y/%m/%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y")
_EARLIEST = datetime(YEARS.start, 1, 1, tzinfo=UTC)
# What stands before and between the two ends of a range.
_FROM = re.compile(r"\b(?:between|from|since)\s+(?:the\s+)?$", re.IGNORECASE)
_TO = re.compile(r"\s*(?:and|to|till|until|through|[-\u2013])\s*(?:the\s+)?", re.IGNORECASE)


def find_periods(
    text: str, *, asked_at: datetime
) -> tuple[tuple[Period, ...], tuple[tuple[int, int], ...]]:
    """The narrowest period that a text names, with the same one in earlier years, and the spans of all its dates."""
    found = [
        (period, mention)
        for mention in find_dates(text)
        if (period := _resolved(mention, text, asked_at)) is not None
    ]
    if not found:
        return (), ()
    spans = tuple((one.start, one.end) for _, one in found)
    if (between := _range(text, found)) is not None:
        return (between,), spans
    bounded = [(_bounded(period, one.relation, asked_at), one) for period, one in found]
    chosen, named = min(bounded, key=lambda one: one[0].end - one[0].start)
    return (chosen, *_earlier(chosen, named)), spans


def written_days(period: Period | None) -> tuple[str, ...]:
    """The words by which a text names a day: its number, its month, and its usual forms in figures."""
    if period is None or period.end - period.start > timedelta(days=1):
        return ()
    day = period.start
    months = (name for name, number in date_words().months.items() if number == day.month)
    return (str(day.day), *months, *(f"{day:{form}}" for form in _FIGURES))


def _resolved(mention: DateMention, text: str, asked_at: datetime) -> Period | None:
    """Which time a date of a query is: a past one, where it may be either; of a day "on which something is" the next."""
    is_ahead = mention.kind in _DAYS and mention.relation == "on" and _IS.search(text) is not None
    tenses: tuple[Tense, ...] = ("future", "past") if is_ahead else ("past", "future")
    period = mention.resolve(asked_at, tenses[0]) or mention.resolve(asked_at, tenses[1])
    is_meant = mention.is_large and not _is_subject(mention, text)
    return period if period is not None and is_meant and period.start.year in YEARS else None


def _range(text: str, found: Sequence[tuple[Period, DateMention]]) -> Period | None:
    """From the first to the second of two dates, as in "between March and May 2025"."""
    for (_, first), (last, second) in pairwise(found):
        is_begun = first.preposition in {"from", "since"} or _FROM.search(text[: first.start])
        if not is_begun or _TO.fullmatch(text[first.end : second.start]) is None:
            continue
        # A first date without a year is the one before the last.
        before = last.start - timedelta(days=1)
        start = first.resolve(before, "past")
        if start is not None and start.start < last.end:
            return Period(start.start, last.end, "season")
    return None


def _is_subject(mention: DateMention, text: str) -> bool:
    """Whether the name of a day, month or season stands where somebody's name does, as in "does April play"."""
    if mention.kind not in _NAMES_TOO or mention.within is not None:
        return False
    which = {f"{mention.kind}_which", f"{mention.kind}_turn"}
    return which.isdisjoint(mention.groups) and _DOES.search(text[: mention.start]) is not None


def _earlier(period: Period, mention: DateMention) -> Iterator[Period]:
    """The same time in the years before, if no year is named."""
    if not mention.is_yearly or mention.relation in {"before", "until"}:
        return
    last = period
    for _ in range(_YEARS):
        before = mention.resolve(last.start - _A_MONTH, "past")
        if before is None or before.start >= last.start:
            return
        yield before
        last = before


def _bounded(period: Period, relation: str, asked_at: datetime) -> Period:
    """Extends a period: *since* and *after* until now or a year ahead, *until* and *before* from the earliest time on."""
    if relation in {"before", "until"}:
        end = period.start if relation == "before" else period.end
        return Period(min(_EARLIEST, end), end, "year")
    if relation in {"since", "after"}:
        begin = period.start if relation == "since" else period.end
        end = max(min(asked_at, _LATEST) + timedelta(days=1), period.end)
        return Period(begin, end if end > begin else begin + _AHEAD, period.unit)
    return period
