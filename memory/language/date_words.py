"""The words that name dates, as one pattern: each kind of date is a named group.

It stands apart from `dates`, which says what they mean, so that either can be read by itself. No part
repeats what a part inside it repeats, so reading takes time in proportion to the text.
"""

# ruff: noqa: RUF001, SIM905 (typographic apostrophes are meant; word lists read best as text)

import re
from collections.abc import Iterator

from mnestic.memory.language.numbers import CARDINAL, CARDINALS, ORDINAL, ORDINALS

MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan",
            "february feb",
            "march mar",
            "april apr",
            "may",
            "june jun",
            "july jul",
            "august aug",
            "september sept sep",
            "october oct",
            "november nov",
            "december dec",
        ),
        1,
    )
    for name in names.split()
}
WEEKDAYS = {
    name: number
    for number, name in enumerate(
        ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
    )
}
# Northern and meteorological: the first month of each. Source: World Meteorological Organization.
SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
HOLIDAYS = {
    "christmas eve": (12, 24),
    "christmas day": (12, 25),
    "christmas": (12, 25),
    "boxing day": (12, 26),
    "new year's eve": (12, 31),
    "new year's day": (1, 1),
    "new year's": (1, 1),
    "new year": (1, 1),
    "halloween": (10, 31),
    "valentine's day": (2, 14),
}

_YEAR = r"(?:19|20)\d\d"
_YEARS_AWAY = {"last": -1, "this": 0, "next": 1}
# "Last year's" is of what follows it.
_ANY_YEAR = rf"{_YEAR}|(?:{'|'.join(_YEARS_AWAY)})\s+year(?!['’]s\b)"
# "Did prices fall last year" names no season.
_NO_VERB = r"(?(relation)|(?(the)|(?<!(?-i:march)\s)(?<!(?-i:fall)\s)))"
_FULL_MONTH = "|".join({number: name for name, number in reversed(MONTHS.items())}.values())
_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
_WEEKDAY = "|".join(WEEKDAYS)
_HOLIDAY = "|".join(sorted(HOLIDAYS, key=len, reverse=True)).replace("'", "['’]")
_WHICH = r"this\s+coming|this\s+past|last|next|this|past|coming"
_DAY = rf"{ORDINAL}|\d{{1,2}}"
_WHOLE = r"(?:(?:last|next|this)\s+|the\s+)(?:year|month)"
_AMOUNT = rf"a\s+couple\s+of|an?|{CARDINAL}"
_TIME_OF_DAY = r"(?:\s+(?:morning|afternoon|evening|night))?"

KINDS = {
    "iso": r"(?P<iso_date>\d{4}-\d\d-\d\d)(?:T[\d:.]{1,15}(?:Z|[+-]\d\d:?\d\d)?)?",
    "figures": r"(?P<figures_day>\d{1,2})(?P<figures_mark>[./])(?P<figures_month>\d{1,2})"
    rf"(?P=figures_mark)(?P<figures_year>{_YEAR})",
    "nth": rf"(?P<nth_number>last|{ORDINAL})\s+(?P<nth_what>{_WEEKDAY}|week|weekend|day)\s+(?:of|in)\s+"
    rf"(?P<nth_month>{_FULL_MONTH}|{_WHOLE})(?:,?\s+(?P<nth_year>{_ANY_YEAR}))?",
    "day_month": rf"(?P<day_month_day>{_DAY})(?P<day_month_of>\s+of)?\s+(?P<day_month_month>{_MONTH})\b(?:\.(?=,?\s+\d))?"
    rf"(?:,?\s+(?:of\s+)?(?P<day_month_year>{_ANY_YEAR}))?",
    "month_day": rf"(?P<month_day_month>{_MONTH})\b\.?,?\s+(?:on\s+)?(?:the\s+)?(?P<month_day_day>{_DAY})(?![\d:])"
    rf"(?:,?\s+(?:of\s+)?(?P<month_day_year>{_ANY_YEAR}))?",
    "part": r"(?P<part_which>start|beginning|middle|end|mid|early|late)(?:\s+of\s+|\s+in\s+|-|\s+)"
    rf"(?P<part_month>{_FULL_MONTH}|{_WHOLE})(?:,?\s+(?P<part_year>{_ANY_YEAR}))?",
    "month": rf"(?:(?P<month_which>{_WHICH})\s+)?(?P<month_name>{_FULL_MONTH})(?:,?\s+(?:of\s+)?"
    rf"(?P<month_year>{_NO_VERB}(?(relation)|(?<!(?-i:may)\s))(?:{_ANY_YEAR})|{_YEAR}))?",
    "season": rf"(?:(?P<season_which>{_WHICH})\s+)?(?P<season_name>{'|'.join(SEASONS)})"
    rf"(?:\s+(?:of\s+)?(?P<season_year>{_NO_VERB}(?:{_ANY_YEAR})|{_YEAR}))?",
    "relative": r"(?P<relative_name>day\s+before\s+yesterday|day\s+after\s+tomorrow|yesterday|today|tonight|"
    rf"tomorrow|last\s+night|this\s+(?:morning|afternoon|evening)){_TIME_OF_DAY}",
    # "On a Friday" is none of them.
    "weekday": rf"(?<!\ba\s)(?<!\bany\s)(?<!\bevery\s)(?<!\beach\s)(?:(?P<weekday_which>{_WHICH})\s+)?(?P<weekday_name>{_WEEKDAY}){_TIME_OF_DAY}",
    "week": rf"(?:(?P<week_which>{_WHICH})\s+)?(?P<week_unit>weekend|week|month|year)",
    "holiday": rf"(?:(?P<holiday_which>{_WHICH})\s+)?(?P<holiday_name>{_HOLIDAY})"
    rf"(?:\s+(?:of\s+)?(?P<holiday_year>{_ANY_YEAR}))?",
    "amount": r"(?:(?:about|almost|nearly|over|around|roughly|more\s+than)\s+)?(?P<amount_past>(?:last|past)\s+)?"
    rf"(?P<amount_number>{_AMOUNT})\s+(?P<amount_unit>day|week|month|year|decade)s?(?:['’]s?\s+time)?"
    r"(?P<amount_way>\s+(?:ago|from\s+now|from\s+today))?",
    "ordinal": r"(?P<ordinal_day>\d{1,2}(?:st|nd|rd|th))(?=\s*(?:[.,;:!?)]|$|\b(?:and|but|not|because|so|at|with|for)\b))",
    "year": rf"(?P<year_name>{_YEAR})(?![\d%:/-])",
}
_RELATION = (
    r"since|until|till|by|from|before|after|as\s+of|starting(?:\s+(?:in|on|from))?|for|in|on|during|at|"
    r"over|around|back\s+in"
)
MENTION = re.compile(
    rf"(?<![\w./-])(?:(?P<relation>{_RELATION})\s+)?(?P<the>the\s+)?"
    rf"(?:(?:(?P<shift_number>{_AMOUNT})\s+)?(?P<shift_unit>day|night|evening|week)s?\s+"
    r"(?P<shift_way>before|after)\s+(?:the\s+)?)?"
    rf"(?:{'|'.join(f'(?P<{kind}>{pattern})' for kind, pattern in KINDS.items())})(?![\w/]|-\w)"
    r"(?:\s+on(?:wards?)?(?=\s*(?:$|[,.;:!?]|(?:i|we|you|he|she|it|they|my|our)\b)))?",  # "from May on I …"
    re.IGNORECASE,
)
# The words with which a mention can begin, and one of which, or a figure, each mention has: the pattern
# is tried at those alone, since at every place of a text it takes ten times as long.
TELLING = frozenset(
    f"{' '.join((*MONTHS, *WEEKDAYS, *SEASONS))} yesterday today tonight tomorrow night morning evening "
    "afternoon day days week weeks weekend month months year years decade decades christmas boxing new "
    "halloween valentine".split()
)
_LEADING = (*MONTHS, *WEEKDAYS, *SEASONS, *HOLIDAYS, *CARDINALS, *ORDINALS)
BEGINNINGS = frozenset(re.split(r"\W+", name)[0] for name in _LEADING) | frozenset(
    "since until till by from before after as starting for in on during at over around back the a an day "
    "days night nights evening evenings week weeks weekend month year last next this past coming start "
    "beginning middle end mid early late yesterday today tonight tomorrow about almost nearly roughly "
    "more".split()
)
_WORD = re.compile(r"\w+")


def year_of(words: str, *, this_year: int) -> int:
    """Which year is named: by its number, or by its place next to this one."""
    if words.isdecimal():
        return int(words)
    return this_year + _YEARS_AWAY[words.partition(" ")[0]]


def iter_mentions(text: str) -> Iterator[re.Match[str]]:
    """The places at which the pattern matches, one after the other."""
    words = [(match.start(), match[0].casefold()) for match in _WORD.finditer(text)]
    telling = (start for start, word in reversed(words) if word in TELLING or word[0].isdecimal())
    last = next(telling, -1)  # behind it no mention begins
    end = 0
    for start, word in words:
        if start > last:
            return
        if start >= end and (word in BEGINNINGS or word[0].isdecimal()):
            match = MENTION.match(text, start)
            if match is not None:
                end = match.end()
                yield match
