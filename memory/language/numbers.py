"""Numbers in words: what "thirty-six", "a dozen" and "3rd" count to, up to ninety-nine.

Dates, ages and amounts read them alike. The words are data, in `numbers.yaml`.
"""

import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from pydantic import ConfigDict

from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.language.word_lists import read_word_lists

_FILE = Path(__file__).with_name("numbers.yaml")
_FIGURES = re.compile(r"([0-9]{1,4})(?:st|nd|rd|th)?$")


class NumberWords(NamedTuple):
    """Words for numbers, and patterns of a number in words or figures: `cardinal` and `ordinal`."""

    cardinals: Mapping[str, int]
    ordinals: Mapping[str, int]
    amounts: Mapping[str, int]
    cardinal: str
    ordinal: str


class _Words(DeferredModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    cardinals: list[str]
    tens: list[str]
    ordinals: list[str]
    amounts: dict[str, int]


def number_of(text: str) -> int | None:
    """The number that a word, a figure or an ordinal says; None for anything else."""
    plain = " ".join(text.casefold().split())
    words = number_words()
    for known in (words.cardinals, words.ordinals, words.amounts):
        if plain in known:
            return known[plain]
    figures = _FIGURES.match(plain)
    return int(figures[1]) if figures else None


def any_of(words: Iterable[str]) -> str:
    """A pattern of any of the words, the longest first."""
    return "|".join(sorted(words, key=lambda word: (-len(word), word)))


@cache
def number_words() -> NumberWords:
    """The words and patterns, read once."""
    words: _Words = read_word_lists(_FILE, _Words)["en"]
    cardinals = {word: number for number, word in enumerate(words.cardinals)}
    for number, ten in zip(range(20, 100, 10), words.tens, strict=True):
        cardinals[ten] = number
        for one, word in enumerate(words.cardinals[1:10], 1):
            cardinals |= dict.fromkeys((f"{ten}-{word}", f"{ten} {word}"), number + one)
    ordinals = {
        form: number
        for number, word in enumerate(words.ordinals, 1)
        for form in (word, word.replace("-", " "))
    }
    return NumberWords(
        cardinals=cardinals,
        ordinals=ordinals,
        amounts=words.amounts,
        cardinal=rf"(?:\d{{1,4}}|{any_of(cardinals)})",
        ordinal=rf"(?:\d{{1,2}}(?:st|nd|rd|th)|{any_of(ordinals)})",
    )
