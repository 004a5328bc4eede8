"""Corrected texts: whether a message puts right a value of an earlier one of which no fact is known.

It stands apart from corrected claims because nothing is known here but words: a value has to look like one that stands in the
earlier message, and the correction must say nothing else.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from mnestic.memory.knowledge.claims import name_key
from mnestic.memory.knowledge.corrections.right_values import is_misspelt
from mnestic.memory.knowledge.corrections.signs import (
    VALUE,
    MarkedValue,
    is_amendment,
    marked_values,
    signs,
)
from mnestic.memory.language.date_mentions import find_dates
from mnestic.memory.language.numbers import number_words
from mnestic.memory.language.sentences import split_sentences
from mnestic.memory.language.terms import terms_of, words_of

_LONGEST = 40  # words of a message that a correction takes out whole
_CAPITALISED = re.compile(r"\b[A-Z\u00c0-\u00de][\w'\u2019-]*")


class _Value(NamedTuple):
    """The content words of a value or of a text; `numbers` are those of numbers and of times of day."""

    terms: tuple[str, ...]
    numbers: frozenset[str]
    has_date: bool


def corrects_text(text: str, earlier: str, *, is_next: bool) -> bool:
    """Whether a message puts right a value of an earlier one, and says nothing else: *Sorry, 5513* of *The code is 5531*.

    The earlier one is a single statement, since a correction takes it out whole.

    Args:
        text: The message.
        earlier: An earlier message of the same person.
        is_next: Whether it is the last one of that person.
    """
    sentences = split_sentences(earlier)
    if len(sentences) != 1 or "?" in text + earlier or len(earlier.split()) > _LONGEST:
        return False
    values = _values(text)
    if wrong := re.search(rf"{signs().negation}({VALUE})", text, re.IGNORECASE):
        return (bool(values) or is_amendment(text)) and _has(earlier, wrong[1])
    return any(_fits(one, earlier, is_next=is_next) for one in values)


def _values(text: str) -> list[MarkedValue]:
    """The values that a message names as right ones, if it does nothing else."""
    found = [*marked_values(text)] if is_amendment(text) or signs().star.match(text) else []
    if after := signs().afterthought.match(text):
        found.append(MarkedValue(after["value"], frozenset({"words", "name"})))
    return [one for one in found if signs().pronouns.isdisjoint(words_of(one.value))]


def _fits(marked: MarkedValue, earlier: str, *, is_next: bool) -> bool:
    """Whether a value can take the place of one in an earlier message: of the same kind, or in the same words but for one."""
    new, old = _value(marked.value), _value(earlier)
    added = [one for one in new.terms if one not in old.terms]
    if not added:
        return False
    if new.has_date:
        return old.has_date
    if new.numbers:
        return bool(old.numbers) and new.numbers.issuperset(added)
    if _is_rest_same(new, added):
        return True
    if not marked.value[:1].isupper():
        return is_next and "words" not in marked.doubtful
    names = [one for one in _names(earlier) if name_key(one) != name_key(marked.value)]
    return any("name" not in marked.doubtful or is_misspelt(one, marked.value) for one in names)


def _is_rest_same(new: _Value, added: Sequence[str]) -> bool:
    """Whether a value repeats a noun with another word beside it: *the green tin* of *the blue tin*, *row M* of *row K*."""
    is_of_noun = new.terms[-1] not in added
    is_letter = len(new.terms) > 1 and new.terms[0] not in added and len(new.terms[-1]) == 1
    return is_of_noun or is_letter


def _value(text: str) -> _Value:
    terms = terms_of(text)
    known = signs().times | number_words().cardinals.keys()
    numbers = (one for one in terms if one in known or any(map(str.isdigit, one)))
    return _Value(terms, frozenset(numbers), bool(find_dates(text)))


def _names(text: str) -> list[str]:
    """The capitalised words behind the beginning of a sentence that name no time."""
    return [
        one[0] for one in _CAPITALISED.finditer(text, 1) if one[0] != "I" and not find_dates(one[0])
    ]


def _has(text: str, value: str) -> bool:
    """Whether a text has the words of a value."""
    words = terms_of(value)
    return bool(words) and set(words) <= set(terms_of(text))
