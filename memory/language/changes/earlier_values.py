"""Earlier values: which questions ask for what was so before something changed, and which texts say it.

They stand apart from updates and new values, which find what is so now: here a text counts that says of itself that it is past
(*we lived in Mol*), and the question may name the value that came after (*before the Tesla*). Words are data, in
`earlier_values.yaml`.
"""

import re
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from functools import cache
from pathlib import Path
from typing import NamedTuple

from pydantic import ConfigDict

from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.language.changes.change_words import is_event
from mnestic.memory.language.changes.statements import Statements
from mnestic.memory.language.changes.update_texts import UpdateText
from mnestic.memory.language.word_lists import read_word_lists

_FILE = Path(__file__).with_name("earlier_values.yaml")
_AROUND = re.compile(r"\b(?:before|after|until)\b", re.IGNORECASE)


class EarlierQuestion(NamedTuple):
    """A question for what was so before something changed.

    `boundary` is what names the value that came after it, as in *before the Tesla*; `is_original`: it asks for the first value.
    """

    boundary: frozenset[str] = frozenset()
    is_original: bool = False


class _Words(DeferredModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    earlier: list[str]
    earlier_in_past: list[str]
    original: list[str]
    boundaries: list[str]


class _Patterns(NamedTuple):
    """The words of all languages as patterns."""

    earlier: re.Pattern[str]
    earlier_in_past: re.Pattern[str]
    original: re.Pattern[str]
    boundaries: re.Pattern[str]


def find_earlier_question(text: str, *, is_about_past: bool) -> EarlierQuestion | None:
    """What a question asks for that was so before something changed; None if it does not."""
    patterns, boundary = _patterns(), frozenset[str]()
    asks = patterns.earlier.search(text) is not None
    if is_about_past:
        asks = asks or patterns.earlier_in_past.search(text) is not None
        if (match := patterns.boundaries.search(text)) is not None:
            asks, boundary = True, _value_of(next(filter(None, match.groups())))
    is_original = patterns.original.search(text) is not None
    return EarlierQuestion(boundary, is_original) if asks else None


def boundary_spans(text: str) -> tuple[tuple[int, int], ...]:
    """Where a question names the value that came after what it asks for; an answer need not have this."""
    match = _patterns().boundaries.search(text)
    groups = () if match is None else range(1, match.re.groups + 1)
    return tuple(match.span(group) for group in groups if match and match[group])


def names_value(text: UpdateText, value: AbstractSet[str]) -> bool:
    """Whether a text has a value, and not as a time: *after the Tesla* says nothing of it."""
    return any(
        value <= one.terms.keys() and _AROUND.search(one.text) is None
        for one in text.statements.clauses
    )


def is_earlier_value(
    old: UpdateText,
    new: UpdateText,
    *,
    boundary: AbstractSet[str],
    is_before: bool,
    names: AbstractSet[str] = frozenset(),
) -> bool:
    """Whether a text says what was so before another one, of what a question for something earlier asks for.

    Args:
        old: The text that may say what was so.
        new: The other one.
        boundary: What names the later value, if the question does.
        is_before: Whether the first text is the older one.
        names: The stems of those whom the question names.
    """
    topic = (old.stems & old.query_stems) - boundary - names
    if not topic & new.stems:
        return False
    was_so = old.is_past and not new.is_past
    if boundary:
        has_all = (new.stems & new.query_stems) - boundary - names <= old.stems
        is_earlier = (is_before or was_so) and has_all
        return is_earlier and names_value(new, boundary) and not boundary <= old.stems
    states = not any(
        is_event(one.text) for one in old.statements.clauses if topic & one.terms.keys()
    )
    return was_so or (is_before and states and not new.is_past and topic <= new.stems)


def _value_of(text: str) -> frozenset[str]:
    """What names a value in words of a question: its names and numbers, or else all its words but those of a change."""
    words = [
        word
        for clause in Statements(text).clauses[:1]
        for word in clause.terms.items()
        if word[1].kind != "time" or "." in word[1].text  # *before 3.13*
    ]
    named = {term for term, word in words if word.kind != "word" or word.text[0].isupper()}
    return frozenset(named or (term for term, _ in words))


@cache
def _patterns() -> _Patterns:
    lists = [*read_word_lists(_FILE, _Words).values()]
    earlier, in_past, original = (
        _either(re.escape(word) for one in lists for word in getattr(one, name))
        for name in ("earlier", "earlier_in_past", "original")
    )
    boundaries = (
        one.replace("<", "(").replace(">", ")") for words in lists for one in words.boundaries
    )
    return _Patterns(
        earlier=_compiled(rf"(?<!\w)(?:{earlier})\b"),
        earlier_in_past=_compiled(rf"\b(?:{in_past})\b"),
        original=_compiled(rf"\b(?:{original})\b"),
        boundaries=_compiled(rf"\b(?:{_either(boundaries)})"),
    )


def _either(patterns: Iterable[str]) -> str:
    return "|".join(sorted(patterns, key=len, reverse=True))


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)
