"""Proper names: the rows of capitalised words of a topic or a text, and whether a text names somebody or something else.

They stand apart from the names of a topic, which are compared without capitals: only here it matters how words are written.
"""

import re
import unicodedata
from collections.abc import Collection, Iterator
from functools import cache
from pathlib import Path

from pydantic import ConfigDict

from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.language.function_words import stop_words
from mnestic.memory.language.terms import normalised, words_of
from mnestic.memory.language.word_lists import read_word_lists

_FILE = Path(__file__).with_name("proper_names.yaml")
_WORD = re.compile(r"[^\W_]+")
_WITHIN = re.compile(r"[^\S\n\r]+|[-'’ʼ./&]|[^\S\n\r]*&[^\S\n\r]*")  # noqa: RUF001 (apostrophes of many kinds are meant)
_AFTER_SHORT = re.compile(r"\.[^\S\n\r]+")  # "Dr. Hall", "J. R. Tolkien"
_LONGEST_SHORT = 3
_FEWEST = 2  # words that are a proper name wherever they stand; one may be capitalised because it begins a sentence


class _Words(DeferredModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    inside: frozenset[str]


def proper_names(topic: str) -> tuple[str, ...]:
    """The proper names of several words in a topic, as they are written; capitals say nothing where all letters are."""
    if not any(map(str.islower, topic)):
        return ()
    return tuple(name for name in _rows(topic) if len(words_of_name(name)) >= _FEWEST)


def words_of_name(name: str) -> frozenset[str]:
    """The words that tell a name from others, folded: without those that only stand inside it."""
    return frozenset(words_of(name)) - _inside() - stop_words()


def is_written_as_name(text: str, words: Collection[str]) -> bool:
    """Whether a text has a proper name with all of these folded words, of which there are several."""
    return len(words) >= _FEWEST and any(set(words) <= words_of_name(name) for name in _rows(text))


def is_written_small(text: str, words: Collection[str]) -> bool:
    """Whether a text has one of these folded words without a capital."""
    return any(match[0][0].islower() and match[0] in words for match in _WORD.finditer(_nfkc(text)))


def names_other(text: str, words: Collection[str]) -> bool:
    """Whether a text has a proper name that shares a word with a name of these words and differs in another."""
    return any(
        own and other and own < set(words)
        for own, other in (
            (name & set(words), name - set(words)) for name in map(words_of_name, _rows(text))
        )
    )


def parts_in(text: str, words: Collection[str]) -> frozenset[str]:
    """The proper names in a text that are a part of a name of these words, folded."""
    return frozenset(
        normalised(name)
        for name in _rows(text)
        if words_of_name(name) and words_of_name(name) < set(words)
    )


def _rows(text: str) -> Iterator[str]:
    """The rows of words with a capital, with what stands inside them; figures belong to the name before them."""
    text = _nfkc(text)
    start = end = reach = 0  # of a row: where it begins, ends, and up to where it may go on
    for match in _WORD.finditer(text):
        word, is_next = match[0], end > start and _joins(text, reach, match.start())
        if _is_capital(word) or (is_next and word.isdecimal()):
            if not is_next:
                yield from filter(None, [text[start:end]])
                start = match.start()
            end = reach = match.end()
        elif is_next and word in _inside():
            reach = match.end()
        else:
            reach = -1
    yield from filter(None, [text[start:end]])


def _is_capital(word: str) -> bool:
    return (
        not word[0].islower()
        and word[0] != word[0].lower()
        and normalised(word) not in stop_words()
    )


def _joins(text: str, reach: int, start: int) -> bool:
    """Whether what stands between two words keeps them in one name."""
    if reach < 0:
        return False
    between = text[reach:start]
    if _WITHIN.fullmatch(between):
        return True
    before = _WORD.findall(text[:reach])[-1]
    return bool(_AFTER_SHORT.fullmatch(between)) and len(before) <= _LONGEST_SHORT


def _nfkc(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


@cache
def _inside() -> frozenset[str]:
    lists = read_word_lists(_FILE, _Words)
    return frozenset().union(*(words.inside for words in lists.values()))
