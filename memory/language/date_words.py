"""The words that name dates, as one pattern: each kind of date is a named group.

`dates` says what they mean. The words are data, in `date_words.yaml`. No part repeats what a part inside it repeats, so
matching takes time in proportion to the text.
"""

# ruff: noqa: RUF001 (typographic apostrophes are meant)

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import ConfigDict

from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.language.numbers import any_of, number_words
from mnestic.memory.language.word_lists import read_word_lists

Relation = Literal["on", "since", "until", "for", "by", "before", "after"]
_FILE = Path(__file__).with_name("date_words.yaml")
_YEAR = r"(?:19|20)\d\d"
_YEARS_AWAY = {"last": -1, "this": 0, "next": 1}
# "Last year's" is of what follows it.
_ANY_YEAR = rf"{_YEAR}|(?:{'|'.join(_YEARS_AWAY)})\s+year(?!['’]s\b)"
# "Did prices fall last year" names no season.
_NO_VERB = r"(?(relation)|(?(the)|(?<!(?-i:march)\s)(?<!(?-i:fall)\s)))"
_WHOLE = r"(?:(?:last|next|this)\s+|the\s+)(?:year|month)"
_NO_RATE = r"(?<!per\s)(?<!each\s)(?<!every\s)"  # but *480 per day | before May*
_SHIFTED = ("day", "night", "evening", "week")  # "two days before …"
_SPANS = ("weekend", "week", "month", "year")
_WORD = re.compile(r"\w+")


class DateWords(NamedTuple):
    """Words, folded, with what they mean, see `date_words.yaml`.

    Each mention has one of the `telling` words or a figure, and begins with one of the `beginnings` or a figure: the pattern
    is tried at those alone, since at every place of a text it takes ten times as long.
    """

    months: Mapping[str, int]
    month_names: tuple[str, ...]
    weekdays: Mapping[str, int]
    seasons: Mapping[str, int]
    holidays: Mapping[str, tuple[int, int]]
    days: Mapping[str, int]
    prepositions: Mapping[str, Relation]
    telling: frozenset[str]
    beginnings: frozenset[str]


class _Words(DeferredModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    months: list[list[str]]
    weekdays: list[str]
    seasons: dict[str, int]
    holidays: dict[str, tuple[int, int]]
    days: dict[str, int]
    prepositions: dict[Relation, list[str]]
    which: list[str]
    parts: list[str]
    units: list[str]
    times_of_day: list[str]
    about: list[str]


def year_of(words: str, *, this_year: int) -> int:
    """Which year is named: by its number, or by its place next to this one."""
    if words.isdecimal():
        return int(words)
    return this_year + _YEARS_AWAY[words.partition(" ")[0]]


def iter_mentions(text: str) -> Iterator[re.Match[str]]:
    """The places at which the pattern matches, one after the other."""
    dates = date_words()
    words = [(match.start(), match[0].casefold()) for match in _WORD.finditer(text)]
    telling = (start for start, word in reversed(words) if _begins(word, dates.telling))
    last = next(telling, -1)  # behind it no mention begins
    end = 0
    for start, word in words:
        if start > last:
            return
        if start >= end and _begins(word, dates.beginnings):
            match = mention_pattern().match(text, start)
            if match is not None:
                end = match.end()
                yield match


def _begins(word: str, words: frozenset[str]) -> bool:
    return word in words or word[0].isdecimal()


@cache
def date_words() -> DateWords:
    """The words, read once."""
    words: _Words = read_word_lists(_FILE, _Words)["en"]
    names = (*chain(*words.months), *words.weekdays, *words.seasons)
    return DateWords(
        months={name: number for number, names in enumerate(words.months, 1) for name in names},
        month_names=tuple(names[0] for names in words.months),
        weekdays={name: number for number, name in enumerate(words.weekdays)},
        seasons=words.seasons,
        holidays=words.holidays,
        days=words.days,
        prepositions={
            word: relation for relation, own in words.prepositions.items() for word in own
        },
        telling=frozenset(
            {*names, *words.times_of_day}
            | {f"{name}s" for name in (*words.weekdays, *words.seasons)}
            | {form for unit in (*words.units, "weekend") for form in (unit, f"{unit}s")}
            | {_first(name) for name in words.holidays}
            | {name.rpartition(" ")[2] for name in words.days}
        ),
        beginnings=frozenset(map(_first, (*names, *_leading(words)))),
    )


def _first(name: str) -> str:
    return re.split(r"\W", name)[0]


def _leading(words: _Words) -> Iterator[str]:
    """What mentions begin with beside the names of months, weekdays and seasons."""
    yield from ("the", *_SPANS, *_SHIFTED, *(f"{unit}s" for unit in _SHIFTED))
    yield from chain(number_words().cardinals, number_words().ordinals, number_words().amounts)
    yield from chain(words.holidays, words.days)
    yield from chain(*words.prepositions.values(), words.which, words.parts, words.about)


@cache
def mention_pattern() -> re.Pattern[str]:
    """The pattern of a mention; a text that has none of the words never waits for it, which takes as long as a few searches."""
    words: _Words = read_word_lists(_FILE, _Words)["en"]
    relation = _any_of(chain(*words.prepositions.values()))
    kinds = "|".join(f"(?P<{kind}>{pattern})" for kind, pattern in _kinds(words).items())
    return re.compile(
        rf"(?<![\w./-])(?:(?P<relation>{relation})\s+)?(?P<the>the\s+)?"
        rf"(?:(?:(?P<shift_number>{_amount()})\s+)?{_NO_RATE}(?P<shift_unit>{'|'.join(_SHIFTED)})s?\s+"
        r"(?P<shift_way>before|after)\s+(?:the\s+)?)?"
        rf"(?:{kinds})(?![\w/]|-\w)"
        r"(?:\s+on(?:wards?)?(?=\s*(?:$|[,.;:!?]|(?:i|we|you|he|she|it|they|my|our)\b)))?",  # "from May on I …"
        re.IGNORECASE,
    )


def _kinds(words: _Words) -> dict[str, str]:
    """The pattern of each kind of date; they are tried in this order."""
    month, full_month = _any_of(chain(*words.months)), _any_of(names[0] for names in words.months)
    weekday, season = _any_of(words.weekdays), _any_of(words.seasons)
    which, unit = _any_of(words.which), _any_of(words.units)
    ordinal = number_words().ordinal
    day = rf"{ordinal}|\d{{1,2}}"
    time_of_day = rf"(?:\s+(?:{_any_of(words.times_of_day)}))?"
    # "The Friday before last", but not "before last week".
    turn = (
        rf"before\s+last|after\s+next)(?!\s+(?:{month}|{weekday}|{season}|{unit}|weekend|night)\b"
    )
    return {
        "iso": r"(?P<iso_date>\d{4}-\d\d-\d\d)(?:T[\d:.]{1,15}(?:Z|[+-]\d\d:?\d\d)?)?",
        "figures": r"(?P<figures_day>\d{1,2})(?P<figures_mark>[./])(?P<figures_month>\d{1,2})"
        rf"(?P=figures_mark)(?P<figures_year>{_YEAR})",
        "nth": rf"(?P<nth_number>last|{ordinal})\s+(?P<nth_what>{weekday}|week|weekend|day)\s+(?:of|in)\s+"
        rf"(?P<nth_month>{full_month}|{_WHOLE})(?:,?\s+(?P<nth_year>{_ANY_YEAR}))?",
        "day_month": rf"(?P<day_month_day>{day})(?P<day_month_of>\s+of)?\s+(?P<day_month_month>{month})\b(?:\.(?=,?\s+\d))?"
        rf"(?:,?\s+(?:of\s+)?(?P<day_month_year>{_ANY_YEAR}))?",
        "month_day": rf"(?P<month_day_month>{month})\b\.?,?\s+(?:on\s+)?(?:the\s+)?(?P<month_day_day>{day})(?![\d:])"
        rf"(?:,?\s+(?:of\s+)?(?P<month_day_year>{_ANY_YEAR}))?",
        "part": rf"(?P<part_which>{_any_of(words.parts)})(?:\s+of\s+|\s+in\s+|-|\s+)"
        rf"(?P<part_month>{full_month}|{_WHOLE})(?:,?\s+(?P<part_year>{_ANY_YEAR}))?",
        "month": rf"(?:(?P<month_which>{which})\s+)?(?P<month_name>{full_month})(?:,?\s+(?:of\s+)?"
        rf"(?P<month_year>{_NO_VERB}(?(relation)|(?<!(?-i:may)\s))(?:{_ANY_YEAR})|{_YEAR})|\s+(?P<month_turn>{turn}))?",
        "season": rf"(?:(?P<season_which>{which})\s+)?(?P<season_name>{season})"
        rf"(?:\s+(?:of\s+)?(?P<season_year>{_NO_VERB}(?:{_ANY_YEAR})|{_YEAR})|\s+(?P<season_turn>{turn}))?",
        "relative": rf"(?P<relative_name>{_any_of(words.days)}){time_of_day}",
        # "On a Friday" is none of them.
        "weekday": rf"(?<!\ba\s)(?<!\bany\s)(?<!\bevery\s)(?<!\beach\s)(?:(?P<weekday_which>{which})\s+)?(?P<weekday_name>{weekday})(?:\s+(?P<weekday_turn>{turn})|{time_of_day})",
        "counted": rf"(?P<counted_number>{_amount()})\s+(?P<counted_name>{weekday}|{season}|weekend)s\s+ago",
        "week": rf"(?:(?P<week_which>{which})\s+)?(?P<week_unit>{'|'.join(_SPANS)})(?:\s+(?P<week_turn>{turn}))?",
        "holiday": rf"(?:(?P<holiday_which>{which})\s+)?(?P<holiday_name>{_any_of(words.holidays)})"
        rf"(?:\s+(?:of\s+)?(?P<holiday_year>{_ANY_YEAR})|\s+(?P<holiday_turn>{turn}))?",
        "amount": rf"(?:(?:{_any_of(words.about)})\s+)?(?P<amount_past>(?:last|past)\s+)?"
        rf"(?P<amount_number>{_amount()})\s+(?P<amount_unit>{unit})s?(?:['’]s?\s+time)?"
        r"(?P<amount_way>\s+(?:ago|from\s+now|from\s+today))?",
        "ordinal": r"(?P<ordinal_day>\d{1,2}(?:st|nd|rd|th))(?=\s*(?:[.,;:!?)]|$|\b(?:and|but|not|because|so|at|with|for)\b|\bof\s+(?:last|this|next)\s+month\b))",
        "year": rf"(?P<year_name>{_YEAR})(?![\d%:/-])",
    }


def _amount() -> str:
    return rf"{_any_of(number_words().amounts)}|{number_words().cardinal}"


def _any_of(words: Iterable[str]) -> str:
    """A pattern of any of the words, with any space and apostrophe between their parts."""
    return any_of(words).replace(" ", r"\s+").replace("'", "['’]")
