"""The words by which a question is parsed, of all languages together.

They stand apart from parsing because they are data, in `query_words.yaml`.
"""

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import ConfigDict

from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.language.word_lists import read_word_lists

Requested = Literal["time", "place", "subject", "whether"]

_FILE = Path(__file__).with_name("query_words.yaml")


class QueryLists(NamedTuple):
    """Words, folded, and patterns; see `query_words.yaml`."""

    about_itself: frozenset[str]
    light: frozenset[str]
    misspelt: frozenset[str]
    joining: frozenset[str]
    shared: frozenset[str]
    auxiliaries: frozenset[str]
    articles: frozenset[str]
    titles: frozenset[str]
    past: frozenset[str]
    continuing: frozenset[str]
    asks_for_time: re.Pattern[str]
    asks_for_place: re.Pattern[str]
    asks_for_subject: re.Pattern[str]
    asks_whether: re.Pattern[str]
    is_question: re.Pattern[str]
    living: re.Pattern[str]
    doing: re.Pattern[str]
    indirect: re.Pattern[str]
    short_title: re.Pattern[str]
    frames: tuple[re.Pattern[str], ...]


class _Lists(DeferredModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    about_itself: tuple[str, ...] = ()
    light: tuple[str, ...] = ()
    misspelt: tuple[str, ...] = ()
    joining: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()
    auxiliaries: tuple[str, ...] = ()
    articles: tuple[str, ...] = ()
    titles: tuple[str, ...] = ()
    short_titles: tuple[str, ...] = ()
    past: tuple[str, ...] = ()
    continuing: tuple[str, ...] = ()
    openers: tuple[str, ...] = ()
    when: tuple[str, ...] = ()
    where: tuple[str, ...] = ()
    subject: tuple[str, ...] = ()
    living: tuple[str, ...] = ()
    no_living: tuple[str, ...] = ()
    doing: tuple[str, ...] = ()
    indirect: tuple[str, ...] = ()
    knowing: tuple[str, ...] = ()
    whose_words: tuple[str, ...] = ()
    frames: tuple[str, ...] = ()


def requested_by(question: str) -> Requested | None:
    """What a question asks for, if that is a time, a place, the subject of a statement as in *who leads Egret*, or yes or no."""
    lists = query_lists()
    asks: dict[Requested, re.Pattern[str]] = {
        "time": lists.asks_for_time,
        "place": lists.asks_for_place,
        "subject": lists.asks_for_subject,
        "whether": lists.asks_whether,
    }
    return next((name for name, one in asks.items() if one.match(question)), None)


@cache
def query_lists() -> QueryLists:
    """The words and patterns, read once."""
    lists = [*read_word_lists(_FILE, _Lists).values()]

    def words(name: str) -> frozenset[str]:
        return frozenset(word for one in lists for word in getattr(one, name))

    def either(name: str) -> str:
        return "|".join(pattern for one in lists for pattern in getattr(one, name))

    leads = either("indirect").replace("<knowing>", either("knowing"))
    auxiliaries = "|".join(sorted(words("auxiliaries")))
    subject = either("subject").replace("<auxiliary>", auxiliaries)
    return QueryLists(
        **{name: words(name) for name in _WORDS},
        asks_for_time=_compiled(rf"\s*(?:{either('when')})\b"),
        asks_for_place=_compiled(rf"\s*(?:{either('where')})\b"),
        asks_whether=_compiled(rf"\s*(?:{auxiliaries})\b"),
        asks_for_subject=_compiled(rf"\s*(?:{subject})\b"),
        is_question=_compiled(rf"[?\uff1f]\s*$|^\s*(?:{either('openers')})\b"),
        living=_compiled(rf"\b(?:{either('living')})\b(?!\s+(?:{either('no_living')})\b)"),
        doing=_compiled(rf"\s*(?:{either('doing')})\W*$"),
        # Up to the name that the question is about: "do you know which bus ".
        indirect=_compiled(
            rf"\s*(?:{leads})\s+(?:{either('whose_words')})\s+(?=(?-i:[^\W\d_a-z]))"
        ),
        # After "doctor" a dot ends the sentence.
        short_title=_compiled(rf"\b({either('short_titles')})\.(?=\s)"),
        frames=tuple(map(_frame, (pattern for one in lists for pattern in one.frames))),
    )


def frame_spans(text: str) -> tuple[tuple[int, int], ...]:
    """Where the words of a question stand that say nothing of what it asks for, such as *take place*."""
    matches = (frame.search(text) for frame in query_lists().frames)
    return tuple(
        match.span(group)
        for match in matches
        if match is not None
        for group in range(1, match.re.groups + 1)
    )


_WORDS: Iterable[str] = (
    *("about_itself", "light", "misspelt", "joining", "shared", "auxiliaries", "articles"),
    *("titles", "past", "continuing"),
)


def _frame(pattern: str) -> re.Pattern[str]:
    """The pattern of a frame, with a group for each part within < >."""
    return _compiled(rf"\b{pattern.replace('<', '(').replace('>', ')')}\b")


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)
