"""Where a text names a date, and by which words; which time that is, `dates` tells.

A library for dates in many languages was measured beside it and took thirty times as long (2.2 ms a message), and found
dates in "may", "sat" and "we".
"""

import re
from collections.abc import Mapping
from dataclasses import replace

from mnestic.memory.language.date_words import date_words, iter_mentions
from mnestic.memory.language.dates import DateMention

# Apostrophes, and an i without its dot or with a second one, as they are read; the pattern takes them for the same.
_PLAIN = str.maketrans({"\u2019": "'", "\u0131": "i", "\u0307": None})
# After "in may", or "last may": the words end there. "This may, however, …" is no month.
_ENDS = re.compile(r"\s*$|\s*[.,;:!?)]|[^\S\n]*\n")
_CLOSES = re.compile(r"\s*$|\s*[.!?)]|[^\S\n]*\n")
_OWNER = re.compile("['\u2019]s\\b")
_DAYS = frozenset({"day_month", "month_day", "iso", "ordinal"})


def find_dates(text: str) -> tuple[DateMention, ...]:
    """The dates that a text names, in their order."""
    found: list[DateMention] = []
    for match in iter_mentions(text):
        if (mention := _mention(match)) is None or not _is_date(mention):
            continue
        joined = _named_day(found[-1], mention, text) if found else None
        if found and joined is None:
            joined = _joined(found[-1], mention, text)
        if joined is not None:
            found.pop()
        found.append(joined or mention)
    return tuple(found)


def _joined(first: DateMention, second: DateMention, text: str) -> DateMention | None:
    """Two dates in a row as one, where one is a part of the other, as in "last year in May" and "on Tuesday last week".

    What began or ended in a year, or before or after it, is of no date behind a comma: "after 2020, in May".
    """
    between = text[first.end : second.start]
    if _is_part(second, of=first):
        is_led = bool(second.preposition) or (second.kind == "weekday" and not between.strip(" "))
        if second.relation != "on" or not is_led:
            return None
        if between.strip(" ," if first.relation == "on" else " "):
            return None
        lead, part, whole = second if first.relation == "on" else first, second, first
    elif _is_part(first, of=second):
        is_owner = (
            _OWNER.match(text, second.end) is not None
        )  # "on Tuesday last week's plan failed"
        if second.relation != "on" or between.strip(" ") not in {"", "of"} or is_owner:
            return None
        lead, part, whole = first, first, second
    else:
        return None
    return replace(
        part,
        start=first.start,
        end=second.end,
        relation=lead.relation,
        preposition=lead.preposition,
        within=whole,
    )


def _is_part(mention: DateMention, *, of: DateMention) -> bool:
    """Whether a date without a week, month or year of its own may be in another one, which is such a period."""
    groups, kind = mention.groups, mention.kind
    is_open = groups.keys().isdisjoint({f"{kind}_which", f"{kind}_turn"}) and not mention.within
    if kind == "weekday" or groups.get("week_unit") == "weekend":
        return is_open and _period(of) == "week"
    if kind == "ordinal":
        return _period(of) == "month"
    return mention.is_yearly and _period(of) == "year"


def _period(mention: DateMention) -> str | None:
    """Whether a mention is a week, a month or a year; None for other times."""
    groups = mention.groups
    if "shift_way" in groups:
        return None
    if mention.kind == "amount":
        is_point = "amount_way" in groups or mention.preposition == "in"
        return groups["amount_unit"] if is_point else None
    return "year" if mention.kind == "year" else groups.get("week_unit")


def _named_day(weekday: DateMention, mention: DateMention, text: str) -> DateMention | None:
    """A date behind its weekday, as in "on Saturday, 5 April"; None for others."""
    between = text[weekday.end : mention.start]
    is_day = weekday.kind == "weekday" and mention.kind in _DAYS
    if not is_day or mention.preposition or between.strip(" ,"):
        return None
    return replace(
        mention, start=weekday.start, relation=weekday.relation, preposition=weekday.preposition
    )


def _mention(match: re.Match[str]) -> DateMention | None:
    kind = match.lastgroup or ""
    groups = {
        name: " ".join(value.casefold().translate(_PLAIN).split())
        for name, value in match.groupdict().items()
        if value
    }
    is_small = "may" in {match["month_name"], match["day_month_month"]}
    is_large = not is_small or _is_no_verb(match, kind, groups)
    if not is_large and "month_which" in groups:  # "this may be so"
        return None
    preposition = groups.get("relation", "")
    relation = date_words().prepositions.get(preposition, "on")
    start = match.start()
    if kind == "relative" and relation == "on":  # the "in" of "we moved in yesterday" is the verb's
        start, preposition = match.start(kind), ""
    return DateMention(start, match.end(), relation, kind, preposition, groups, is_large)


def _is_no_verb(match: re.Match[str], kind: str, groups: Mapping[str, str]) -> bool:
    """Whether "may" is the month: led by what leads to a time, with its year or the end of the words after it."""
    if "relation" in groups:
        ends = _ENDS.match(match.string, match.end())
        return f"{kind}_year" in groups or ends is not None
    is_other = groups.get(f"{kind}_which", "this") != "this"
    return is_other and _CLOSES.match(match.string, match.end()) is not None


def _is_date(mention: DateMention) -> bool:
    """Whether the words can be a date here: "may" alone, "week" or "2000" alone are none."""
    groups, kind, preposition = mention.groups, mention.kind, mention.preposition
    is_led = bool(preposition) or "shift_way" in groups or f"{kind}_which" in groups
    is_led = is_led or f"{kind}_turn" in groups
    if kind in {"month", "season", "holiday"}:
        is_led = is_led or f"{kind}_year" in groups
    if kind in {"month", "season"}:  # "for the spring campaign" is no season
        return is_led and (kind, preposition) != ("season", "for")
    if kind == "week":
        return not groups.keys().isdisjoint({"week_which", "week_turn"}) or (
            groups["week_unit"] == "weekend" and is_led
        )
    if kind == "amount":
        return preposition in {"for", "in", "over", "since"} or "amount_way" in groups
    if kind == "day_month":
        return mention.is_large or "day_month_of" in groups
    if kind == "ordinal":
        return "the" in groups or "shift_way" in groups
    return is_led or kind not in {"year", "holiday"}
