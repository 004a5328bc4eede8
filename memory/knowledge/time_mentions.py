"""Temporal context: the times that a message speaks of, resolved against when it was said.

An entry has its times at once, and only those that are certain; the extractor also reads the tense of a clause.
"""

# ruff: noqa: RUF001 (typographic apostrophes are meant)

import re
from dataclasses import replace
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import NamedTuple

from mnestic.memory.knowledge.entries import TimeMention
from mnestic.memory.language.date_mentions import find_dates
from mnestic.memory.language.dates import DateMention, Period, Tense
from mnestic.memory.language.word_lists import read_patterns

_FILE = Path(__file__).with_name("time_mentions.yaml")
_MOST = 16
_READ_CHARS = 20_000  # of a longer text only the beginning is read
_END = re.compile(r"[.!?;\n]\s")
_THROUGH = re.compile(r"\s*(?:to|till|through|[-–—])?\s*")  # what stands between the ends of a span
_LONGEST = timedelta(days=366)  # a span of two dates without their years


def times_of(text: str, *, at: datetime) -> tuple[TimeMention, ...]:
    """The times that a text names, in their order.

    A date that lies ahead or back, as the tense has it ("in May"), is told only where the sentence
    shows which. From one date to another is one time.

    Args:
        text: What was said.
        at: When; aware. The intervals are in its offset.
    """
    read = text[:_READ_CHARS]
    found: list[TimeMention] = []
    last: DateMention | None = None
    for mention in find_dates(read)[:_MOST]:
        period = _resolve(mention, _sentence(read, mention), at)
        if period is None:
            continue
        start = mention.start
        is_moved = _words().moved.search(_sentence(read, mention)) is not None
        if last is not None and not is_moved and _is_span(last, mention, read):
            since = found[-1].start
            if since < period.start and period.end - since <= _LONGEST:
                start, period = last.start, replace(period, start=since)
                found.pop()
        found.append(
            TimeMention(words=read[start : mention.end], start=period.start, end=period.end)
        )
        last = mention
    return tuple(found)


def names_time(text: str) -> bool:
    """Whether a text tells when something is, again and again or by the clock: "on Tuesdays", "at 9:30"."""
    return _words().again.search(text[:_READ_CHARS].lower()) is not None


def _is_span(first: DateMention, last: DateMention, text: str) -> bool:
    """Whether two dates are the ends of one time, as in "from 3 May to 9 May" and "3 May until 9 May"."""
    between = text[first.end : last.start]
    ends = last.relation == "until" or bool(between.strip())
    return ends and last.relation in {"on", "until"} and _THROUGH.fullmatch(between) is not None


def _resolve(mention: DateMention, sentence: str, at: datetime) -> Period | None:
    past, future = mention.resolve(at, "past"), mention.resolve(at, "future")
    if past == future:
        return past
    if past is None or future is None:  # as "in two weeks", which cannot be past
        return past or future
    tense = _tense(sentence)
    if tense is None:
        return None
    return past if tense == "past" else future


def _tense(sentence: str) -> Tense | None:
    """Where a sentence looks, None where it shows both or neither."""
    words = _words()
    ahead, back = words.ahead.search(sentence), words.back.search(sentence)
    if bool(ahead) == bool(back):
        return None
    return "future" if ahead else "past"


def _sentence(text: str, mention: DateMention) -> str:
    start = max((end.end() for end in _END.finditer(text, 0, mention.start)), default=0)
    end = _END.search(text, mention.end)
    return text[start : end.start() if end else len(text)]


class _Words(NamedTuple):
    again: re.Pattern[str]
    ahead: re.Pattern[str]
    back: re.Pattern[str]
    moved: re.Pattern[str]


@cache
def _words() -> _Words:
    patterns = read_patterns(_FILE)
    return _Words(
        again=re.compile(rf"\b(?:{patterns['again']})"),  # of texts in lower case
        ahead=re.compile(rf"\b(?:{patterns['ahead']})\b|['’]ll\b", re.IGNORECASE),
        back=re.compile(rf"\b(?:{patterns['back']})\b", re.IGNORECASE),
        moved=re.compile(rf"\b(?:{patterns['moved']})", re.IGNORECASE),
    )
