"""Acronyms whose letters are no word: *IT*, *WHO*, *AT&T*, *C++*; each with a normal form.

Text search drops or mixes them up: for it *IT* is a function word, and *C++* and *C#* are the same. The written form
tells them apart: capitals in a text that has small letters too, or signs between capitals.
"""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from mnestic.memory.language.function_words import function_words
from mnestic.memory.language.terms import terms_of
from mnestic.memory.language.word_lists import read_word_lists

_FILE = Path(__file__).with_name("acronyms.yaml")
_MAY_BE = re.compile(r"[A-Z][A-Z&/+#.]|[a-z][&#]|\+\+|\.[A-Z]")
_SIGNED = re.compile(
    r"(?<![\w&/.@#+-])(?:"
    r"(?=[\w&]*[A-Z])[A-Za-z0-9]{1,4}(?:&[A-Za-z0-9]{1,4})+(?![\w&;/])"  # R&D
    r"|[A-Z](?:/[A-Z]){1,2}(?![\w/])"  # A/C
    r"|[A-Za-z]{1,2}(?:\+\+|\#)(?![\w+#])"  # C++
    r"|\.[A-Z]{2,4}(?!\w)"  # .NET
    r"|(?:[A-Z]\.){2,5}(?!\w)"  # U.S.
    r")"
)
_CAPITALS = re.compile(r"(?<![\w&/.@#+'\u2019-])[A-Z]{2,5}(?![\w&/@#+]|-\w|\.\w)")
_SENTENCE = re.compile(r"[^.!?\n]+(?:\.(?=\w)[^.!?\n]+)*")
_WORD = re.compile(r"[^\W\d_]{2,}")
_FEW = 2  # words in capitals, in a sentence where most words may be


class Acronym(NamedTuple):
    """An acronym in a text, and its normal form, which all written forms of it share."""

    start: int
    end: int
    key: str


def find_acronyms(text: str) -> tuple[Acronym, ...]:
    """The acronyms in a text that text search does not know as words, in their order.

    Capitals count if they are a function word of some language, since others are words for text search, and only where
    the sentence has small letters too; a text of one word has none and counts as well.
    """
    if _MAY_BE.search(text) is None:
        return ()
    signed = [
        Acronym(*match.span(), _key(match[0]))
        for match in _SIGNED.finditer(text)
        if not match[0].endswith(".") or _key(match[0]) in _ambiguous_words()
    ]
    taken = [range(one.start, one.end) for one in signed]
    capitals = (one for one in _in_capitals(text) if not any(one.start in span for span in taken))
    return tuple(sorted((*signed, *capitals)))


def content_terms(text: str) -> tuple[str, ...]:
    """The content terms of a text and its acronyms, for callers that count whether a text says something."""
    return (*terms_of(text), *(one.key for one in find_acronyms(text)))


def _in_capitals(text: str) -> Iterator[Acronym]:
    is_single = len(_WORD.findall(text)) == 1
    for sentence in _SENTENCE.finditer(text):
        words = _WORD.findall(sentence[0])
        capitals = sum(word.isupper() for word in words)
        is_shouted = capitals == len(words) or (capitals > _FEW and 2 * capitals > len(words))
        if is_shouted and not is_single:
            continue
        for match in _CAPITALS.finditer(text, *sentence.span()):
            if (key := _key(match[0])) in _ambiguous_words():
                yield Acronym(*match.span(), key)


def _key(written: str) -> str:
    return written.casefold().replace(".", "") if written.endswith(".") else written.casefold()


@cache
def _ambiguous_words() -> frozenset[str]:
    """Function words that may be acronyms."""
    emphasised = {word for words in read_word_lists(_FILE, list).values() for word in words}
    return frozenset().union(*function_words().values()) - emphasised
