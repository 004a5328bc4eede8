"""The words by which a question is parsed, of all languages together.

They are data, in `query_words.yaml`.
"""

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import NamedTuple

from pydantic import ConfigDict

from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.language.word_lists import read_word_lists

_FILE = Path(__file__).with_name("query_words.yaml")


class QueryLists(NamedTuple):
    """Words, folded, and patterns; see `query_words.yaml`."""

    about_itself: frozenset[str]
    light: frozenset[str]
    misspelt: frozenset[str]
    auxiliaries: frozenset[str]
    articles: frozenset[str]
    titles: frozenset[str]
    continuing: frozenset[str]
    first_person: frozenset[str]
    asks_for_time: re.Pattern[str]
    asks_for_earlier: re.Pattern[str]
    is_question: re.Pattern[str]
    indirect: re.Pattern[str]
    short_title: re.Pattern[str]
    frames: tuple[re.Pattern[str], ...]


class _Lists(DeferredModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    about_itself: tuple[str, ...] = ()
    light: tuple[str, ...] = ()
    misspelt: tuple[str, ...] = ()
    auxiliaries: tuple[str, ...] = ()
    articles: tuple[str, ...] = ()
    titles: tuple[str, ...] = ()
    short_titles: tuple[str, ...] = ()
    continuing: tuple[str, ...] = ()
    first_person: tuple[str, ...] = ()
    earlier: tuple[str, ...] = ()
    openers: tuple[str, ...] = ()
    when: tuple[str, ...] = ()
    indirect: tuple[str, ...] = ()
    knowing: tuple[str, ...] = ()
    whose_words: tuple[str, ...] = ()
    frames: tuple[str, ...] = ()


@cache
def query_lists() -> QueryLists:
    """The words and patterns, read once."""
    lists = [*read_word_lists(_FILE, _Lists).values()]

    def words(name: str) -> frozenset[str]:
        return frozenset(word for one in lists for word in getattr(one, name))

    def either(name: str) -> str:
        return "|".join(pattern for one in lists for pattern in getattr(one, name))

    leads = either("indirect").replace("<knowing>", either("knowing"))
    return QueryLists(
        **{name: words(name) for name in _WORDS},
        asks_for_time=_compiled(rf"(?<!\s)\s*+(?:{either('when')})\b"),
        asks_for_earlier=_compiled(rf"\b(?:{either('earlier')})\b"),
        is_question=_compiled(rf"[?\uff1f]\s*$|^\s*(?:{either('openers')})\b"),
        # Up to the name that the question is about: "do you know which bus ".
        indirect=_compiled(
            rf"(?<!\s)\s*+(?:{leads})\s+(?:{either('whose_words')})\s+(?=(?-i:[^\W\d_a-z]))"
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
    *("about_itself", "light", "misspelt", "auxiliaries", "articles", "titles", "continuing"),
    "first_person",
)


def _frame(pattern: str) -> re.Pattern[str]:
    """The pattern of a frame, with a group for each part within < >."""
    return _compiled(rf"\b{pattern.replace('<', '(').replace('>', ')')}\b")


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)
