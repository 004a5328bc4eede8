"""Dates in words, and which time each is, given when it was said.

The sentence around a date says whether it lies before or after: "in January" is one month in a report and another in a
plan. It is pure: the message's own moment and offset come from the caller.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from typing import Literal

from mnestic.memory.language.date_words import Relation, date_words, year_of
from mnestic.memory.language.numbers import number_of

Tense = Literal["past", "present", "future"]
Unit = Literal["day", "week", "month", "season", "year"]
_BEGUN = frozenset({"since", "for"})  # what is so "since May" has begun, "from May on" has not
_WEEK = 7
_SATURDAY = 5
_DECEMBER = 12
_DAYS = {"day": 1, "night": 1, "evening": 1, "week": 7}
_MOST_TIMES = 100  # of what was several times ago
_LEAP = 8  # years between two leap days, at most


@dataclass(frozen=True, slots=True)
class Period:
    """From `start` up to, not with, `end`, in the offset of the message; `unit` is what was named."""

    start: datetime
    end: datetime
    unit: Unit

    def __str__(self) -> str:
        """The day, month or year in ISO form; first and last day of anything else."""
        if self.unit == "day":
            return f"{self.start:%Y-%m-%d}"
        if self.unit == "month":
            return f"{self.start:%Y-%m}"
        if self.unit == "year":
            return f"{self.start:%Y}"
        return f"{self.start:%Y-%m-%d}/{self.end - timedelta(days=1):%Y-%m-%d}"


@dataclass(frozen=True, slots=True)
class DateMention:
    """A date in a text: characters `start` up to `end`, with the preposition before it.

    `is_large` is false for "may" in small letters, where it may be a verb. `within`: the week, month or year of which it is a part,
    as in "on Tuesday last week"; start and end are those of both.
    """

    start: int
    end: int
    relation: Relation
    kind: str
    preposition: str
    groups: Mapping[str, str]
    is_large: bool = True
    within: "DateMention | None" = None

    @property
    def is_yearly(self) -> bool:
        """Whether it comes every year, and it is not named of which."""
        kind, groups = self.kind, self.groups
        named = {f"{kind}_year", f"{kind}_turn", f"{kind}_which"} - {"part_which"}
        is_open = groups.keys().isdisjoint(named) and self.within is None
        is_of_month = groups.get(f"{kind}_month", "may") in date_words().months
        return kind in _YEARLY and is_open and is_of_month

    def resolve(self, at: datetime, tense: Tense) -> Period | None:
        """Which time it is; None for one that the calendar does not have.

        Args:
            at: When it was said; aware.
            tense: Of the sentence; what began or ended is told by the date's own preposition.
        """
        way = tense
        if tense == "present":  # of something planned, such as "we fly on Monday"
            way = "past" if self.preposition in _BEGUN else "future"
        try:
            found = self._found(at, way)
            if found is None:
                return None
            first, last, unit = self._shifted(*found)
            start, end = (datetime.combine(day, time.min, at.tzinfo) for day in (first, last))
            return Period(start, end, unit)
        except (ValueError, OverflowError):
            return None

    def _found(self, at: datetime, tense: Tense) -> "_Found":
        if self.within is not None:
            period = self.within.resolve(at, tense)
            return None if period is None else _part_of(self, period.start.date())
        if turn := self.groups.get(f"{self.kind}_turn"):
            return _repeated(self, at.date(), which=turn.split()[1], times=2)
        return _RESOLVERS[self.kind](self, at.date(), tense)

    def _shifted(self, first: date, last: date, unit: Unit) -> tuple[date, date, Unit]:
        way = self.groups.get("shift_way")
        if not way:
            return first, last, unit
        number = number_of(self.groups.get("shift_number", "a")) or 1
        days = timedelta(days=number * _DAYS[self.groups["shift_unit"]])
        moved = first - days if way == "before" else last - timedelta(days=1) + days
        return moved, moved + timedelta(days=1), "day"


_Found = tuple[date, date, Unit] | None
_YEARLY = frozenset({"day_month", "month_day", "month", "season", "holiday", "part", "nth"})


def _day(day: date) -> _Found:
    return day, day + timedelta(days=1), "day"


def _month(year: int, month: int) -> _Found:
    return date(year, month, 1), _next_month(date(year, month, 1)), "month"


def _next_month(day: date) -> date:
    return date(day.year + day.month // _DECEMBER, day.month % _DECEMBER + 1, 1)


def _part_of(mention: DateMention, day: date) -> _Found:
    """The date of a mention in the week, the month or the year that a day is in."""
    groups, kind = mention.groups, mention.kind
    if kind == "weekday":
        number = date_words().weekdays[groups["weekday_name"]]
        return _day(day + timedelta(days=number - day.weekday()))
    if kind == "week":
        return _calendar("weekend", "this", day)
    if kind == "ordinal":
        return _day(day.replace(day=number_of(groups["ordinal_day"]) or 0))
    dated = replace(mention, groups={**groups, f"{kind}_year": str(day.year)})
    return _RESOLVERS[kind](dated, day, "past")


def _repeated(mention: DateMention, today: date, *, which: str, times: int) -> _Found:
    """What was or is to be several times from today on, each the one before or after that before it."""
    tense: Tense = "past" if which == "last" else "future"
    groups = {**mention.groups, f"{mention.kind}_which": which}
    found: _Found = None
    for _ in range(times):
        found = _RESOLVERS[mention.kind](replace(mention, groups=groups), today, tense)
        if found is None:
            return None
        today = found[0]
    return found


def _counted(mention: DateMention, today: date, _tense: Tense) -> _Found:
    """As in "two Fridays ago"."""
    name, number = mention.groups["counted_name"], number_of(mention.groups["counted_number"])
    kind = "weekday" if name in date_words().weekdays else "season"
    key = f"{kind}_name"
    if name == "weekend":
        kind, key = "week", "week_unit"
    single = replace(mention, kind=kind, groups={key: name})
    return _repeated(single, today, which="last", times=min(number or 0, _MOST_TIMES))


def _recurring(
    each: Callable[[int], _Found], today: date, tense: Tense, *, which: str = ""
) -> _Found:
    """Of what comes once a year: the last that has begun, or the next that is not over.

    "last" is over and "next" has not begun; "this" is the year's own.
    """
    if which == "this":
        return each(today.year)
    years = range(today.year + 1, today.year - _LEAP, -1)
    if which in {"next", "coming", "this coming"} or (not which and tense == "future"):
        years = range(today.year - 1, today.year + _LEAP)
    for year in years:
        try:
            found = each(year)
        except ValueError:  # no 29 February in that year
            continue
        if found and _fits(found, today, tense=tense, which=which):
            return found
    return None


def _fits(found: tuple[date, date, Unit], today: date, *, tense: Tense, which: str) -> bool:
    first, end, _ = found
    if which in {"last", "past", "this past"}:
        return end <= today
    if which:
        return first > today
    return end > today if tense == "future" else first <= today


def _iso(mention: DateMention, _today: date, _tense: Tense) -> _Found:
    return _day(date.fromisoformat(mention.groups["iso_date"]))


def _figures(mention: DateMention, _today: date, _tense: Tense) -> _Found:
    """Day and month in figures; with a slash only where they cannot be taken for each other."""
    groups = mention.groups
    day, month = int(groups["figures_day"]), int(groups["figures_month"])
    if groups["figures_mark"] == "/":
        if day <= _DECEMBER and month <= _DECEMBER and day != month:
            return None
        day, month = max(day, month), min(day, month)
    return _day(date(int(groups["figures_year"]), month, day))


def _dated(mention: DateMention, today: date, tense: Tense) -> _Found:
    """A day of a month, with or without its year."""
    groups, kind = mention.groups, mention.kind
    day, month = number_of(groups[f"{kind}_day"]) or 0, date_words().months[groups[f"{kind}_month"]]
    if year := groups.get(f"{kind}_year"):
        return _day(date(year_of(year, this_year=today.year), month, day))
    return _recurring(lambda year: _day(date(year, month, day)), today, tense)


def _month_of(text: str, today: date, tense: Tense, *, year: str | None) -> _Found:
    """A month by its name, or "this month", "next year" and their like."""
    if text in date_words().months:
        number = date_words().months[text]
        if year:
            return _month(year_of(year, this_year=today.year), number)
        return _recurring(lambda each: _month(each, number), today, tense)
    which, unit = text.split()
    return _calendar(unit, "this" if which == "the" else which, today)


def _part(mention: DateMention, today: date, tense: Tense) -> _Found:
    """The first, middle or last third of a month or year."""
    groups = mention.groups
    whole = _month_of(groups["part_month"], today, tense, year=groups.get("part_year"))
    if whole is None:
        return None
    first, end, _ = whole
    third = (end - first) / 3
    if groups["part_which"] in {"start", "beginning", "early"}:
        return first, first + third, "week"
    if groups["part_which"] in {"end", "late"}:
        return end - third, end, "week"
    return first + third, end - third, "week"


def _nth(mention: DateMention, today: date, tense: Tense) -> _Found:
    """A counted part of a month, such as "the last Sunday of October"."""
    groups = mention.groups
    if (year := groups.get("nth_year")) or groups["nth_month"] not in date_words().months:
        return _nth_of(groups, _month_of(groups["nth_month"], today, tense, year=year))
    number = date_words().months[groups["nth_month"]]
    return _recurring(lambda each: _nth_of(groups, _month(each, number)), today, tense)


def _nth_of(groups: Mapping[str, str], month: _Found) -> _Found:
    if month is None:
        return None
    first, end, _ = month
    what, nth = groups["nth_what"], groups["nth_number"]
    number = 0 if nth == "last" else number_of(nth) or 0
    if what == "week":
        start = first + timedelta(days=_WEEK * (number - 1)) if number else end - timedelta(_WEEK)
        return start, start + timedelta(days=_WEEK), "week"
    weekday = _SATURDAY if what == "weekend" else date_words().weekdays.get(what)
    matching = [
        day
        for offset in range((end - first).days)
        if weekday in {None, (day := first + timedelta(days=offset)).weekday()}
    ]
    if number > len(matching):
        return None
    day = matching[number - 1]
    return (day, day + timedelta(days=2), "day") if what == "weekend" else _day(day)


def _named_month(mention: DateMention, today: date, tense: Tense) -> _Found:
    groups = mention.groups
    number = date_words().months[groups["month_name"]]
    if year := groups.get("month_year"):
        return _month(year_of(year, this_year=today.year), number)
    which = groups.get("month_which", "")
    return _recurring(lambda each: _month(each, number), today, tense, which=which)


def _season(mention: DateMention, today: date, tense: Tense) -> _Found:
    groups = mention.groups
    first = date_words().seasons[groups["season_name"]]

    def season(year: int) -> _Found:
        start = date(year, first, 1)
        return start, _next_month(_next_month(_next_month(start))), "season"

    if year := groups.get("season_year"):
        return season(year_of(year, this_year=today.year))
    return _recurring(season, today, tense, which=groups.get("season_which", ""))


def _relative(mention: DateMention, today: date, _tense: Tense) -> _Found:
    return _day(today + timedelta(days=date_words().days[mention.groups["relative_name"]]))


def _weekday(mention: DateMention, today: date, tense: Tense) -> _Found:
    """A day of the week that is not today; "next Friday" is the next week's, from Monday on."""
    which, name = mention.groups.get("weekday_which"), mention.groups["weekday_name"]
    if which == "next":
        return _day(today + timedelta(days=_WEEK - today.weekday() + date_words().weekdays[name]))
    ahead = (date_words().weekdays[name] - today.weekday()) % _WEEK
    if which in {"this", "coming", "this coming"} or (not which and tense == "future"):
        return _day(today + timedelta(days=ahead if which == "this" else ahead or _WEEK))
    return _day(today - timedelta(days=(_WEEK - ahead) if ahead else _WEEK))


def _week(mention: DateMention, today: date, tense: Tense) -> _Found:
    which = mention.groups.get("week_which", "")
    if not which:
        return _calendar("weekend", "this" if tense == "future" else "last", today)
    return _calendar(mention.groups["week_unit"], which, today)


def _calendar(unit: str, which: str, today: date) -> _Found:
    """A week from Monday on, a month or a year of the calendar, next to the one of today."""
    step = {"last": -1, "past": -1, "this past": -1, "next": 1}.get(which, 0)
    if unit == "year":
        return date(today.year + step, 1, 1), date(today.year + step + 1, 1, 1), "year"
    if unit == "month":
        months = today.year * _DECEMBER + today.month - 1 + step
        return _month(months // _DECEMBER, months % _DECEMBER + 1)
    monday = today - timedelta(days=today.weekday()) + timedelta(days=_WEEK * step)
    if unit == "week":
        return monday, monday + timedelta(days=_WEEK), "week"
    return monday + timedelta(days=_SATURDAY), monday + timedelta(days=_WEEK), "day"


def _holiday(mention: DateMention, today: date, tense: Tense) -> _Found:
    month, day = date_words().holidays[mention.groups["holiday_name"]]
    which = mention.groups.get("holiday_which", "")
    if year := mention.groups.get("holiday_year"):
        return _day(date(year_of(year, this_year=today.year), month, day))
    return _recurring(lambda year: _day(date(year, month, day)), today, tense, which=which)


def _amount(mention: DateMention, today: date, tense: Tense) -> _Found:
    """What is two weeks ago or in two weeks, and when that began which has lasted for two weeks."""
    groups = mention.groups
    number, unit = number_of(groups["amount_number"]), groups["amount_unit"]
    way = groups.get("amount_way", "")
    if number is None or (mention.relation == "for" and tense == "future"):
        return None
    is_ahead = "from" in way or (
        mention.preposition == "in" and not way and "amount_past" not in groups
    )
    if is_ahead and tense == "past":
        return None
    step = number if is_ahead else -number
    if unit in {"day", "week"}:
        return _day(today + timedelta(days=step * _DAYS[unit]))
    months = today.year * _DECEMBER + today.month - 1
    months += step * {"month": 1, "year": _DECEMBER, "decade": 10 * _DECEMBER}[unit]
    first = date(months // _DECEMBER, months % _DECEMBER + 1, 1)
    last_day = (_next_month(first) - timedelta(days=1)).day
    return _day(first.replace(day=min(today.day, last_day)))


def _ordinal(mention: DateMention, today: date, tense: Tense) -> _Found:
    """A day of this month, or of the one before or after, as the tense asks."""
    day = number_of(mention.groups["ordinal_day"]) or 0
    months = today.year * _DECEMBER + today.month - 1
    if tense == "future":
        months += day < today.day
    elif tense == "past":
        months -= day > today.day
    return _day(date(months // _DECEMBER, months % _DECEMBER + 1, day))


def _year(mention: DateMention, _today: date, _tense: Tense) -> _Found:
    year = int(mention.groups["year_name"])
    return date(year, 1, 1), date(year + 1, 1, 1), "year"


_RESOLVERS: Mapping[str, Callable[[DateMention, date, Tense], _Found]] = {
    "iso": _iso,
    "figures": _figures,
    "nth": _nth,
    "day_month": _dated,
    "month_day": _dated,
    "part": _part,
    "month": _named_month,
    "season": _season,
    "relative": _relative,
    "weekday": _weekday,
    "week": _week,
    "counted": _counted,
    "holiday": _holiday,
    "amount": _amount,
    "ordinal": _ordinal,
    "year": _year,
}
