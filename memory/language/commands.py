"""Commands and acknowledgements that name nothing, such as "run it", "weiter" and "yes please, go on".

A command is known by its words, none of which is a content word of its language; small talk is known by its phrases.
There is nothing to search for in it.
"""

import re
import unicodedata
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from pydantic import ConfigDict, Field

from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.language.acronyms import find_acronyms
from mnestic.memory.language.function_words import UNSPACED, function_words, question_words
from mnestic.memory.language.small_talk import (
    has_letter_or_digit,
    is_small_talk,
    without_emoticons,
)
from mnestic.memory.language.terms import words_of
from mnestic.memory.language.word_lists import read_word_lists

_FILE = Path(__file__).with_name("commands.yaml")
_MOST_WORDS, _MOST_CHARS = 12, 200  # who says more, says something
_ENDS = re.compile(r"[.,;:!\u2026\u3002\uff0c\uff01\u3001\n\r\u2013\u2014]+")
_APOSTROPHES = re.compile("['\u2019]")  # in "don't" within a word, in "d'accord" between two
_ASKING = re.compile("[?\uff1f\u061f\u037e\u055e]")


class _Lists(DeferredModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    alone: list[str]
    beside: list[str]
    statements: list[str] = Field(default=[])
    determiners: list[str] = Field(default=[])


class _Words(NamedTuple):
    """Words of a language, without accents; `silent` are all that a command may consist of."""

    alone: frozenset[str]
    light: frozenset[str]
    silent: frozenset[str]
    statements: frozenset[str]
    determiners: frozenset[str]

    def is_command(self, words: Sequence[str]) -> bool:
        """Whether words are nothing but a command or an acknowledgement in this language."""
        if not self.silent.issuperset(words) or not self.statements.isdisjoint(words):
            return False
        pairs = zip(("", *words), words, strict=False)
        if any(word in self.light and before in self.determiners for before, word in pairs):
            return False
        return not (self.light if words[1:] else self.alone).isdisjoint(words)


def is_command(text: str) -> bool:
    """Whether a text is nothing but a command or an acknowledgement that names nothing; a question is none.

    All its words are function words of one language, light verbs, such as "run", and words of assent; small talk may stand
    beside it.
    """
    if len(text) > _MOST_CHARS or _ASKING.search(text) or find_acronyms(text):
        return False
    parts = [
        part for part in _ENDS.split(without_emoticons(text)) if any(map(has_letter_or_digit, part))
    ]
    others = " ".join([part for part in parts if not is_small_talk(part)] or parts)
    if runs := UNSPACED.findall(others):
        return not UNSPACED.sub("", others).strip() and _is_unspaced_command(runs)
    return any(_is_spaced_command(text) for text in {others, _APOSTROPHES.sub("", others)})


def _is_spaced_command(text: str) -> bool:
    words = [_plain(word) for word in words_of(text) if has_letter_or_digit(word)]
    return 0 < len(words) <= _MOST_WORDS and any(one.is_command(words) for one in _spaced())


def _is_unspaced_command(runs: Sequence[str]) -> bool:
    whole, alone = _unspaced()
    return all(map(whole.fullmatch, runs)) and any(map(alone.search, runs))


@cache
def _spaced() -> tuple[_Words, ...]:
    lists, functions, asking = _lists(), function_words(), question_words()
    return tuple(
        _Words(
            alone=_plain_words(one.alone),
            light=_plain_words([*one.alone, *one.beside]),
            silent=_plain_words([*(functions[name] - asking[name]), *one.alone, *one.beside]),
            statements=_plain_words(one.statements),
            determiners=_plain_words(one.determiners),
        )
        for name, one in lists.items()
        if name in functions
    )


@cache
def _unspaced() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """What a command in a language without spaces consists of, and the words of which it has at least one."""
    lists = [one for name, one in _lists().items() if name not in function_words()]
    alone = [word for one in lists for word in one.alone]
    beside = [word for one in lists for word in one.beside]
    return re.compile(f"(?>{_either([*alone, *beside])})++"), re.compile(_either(alone))


def _lists() -> dict[str, _Lists]:
    return read_word_lists(_FILE, _Lists)


def _either(words: Sequence[str]) -> str:
    return "|".join(sorted(words, key=len, reverse=True))


def _plain_words(words: Sequence[str]) -> frozenset[str]:
    return frozenset(map(_plain, words))


def _plain(word: str) -> str:
    """A word without accents, which people leave out."""
    apart = unicodedata.normalize("NFKD", word)
    return "".join(char for char in apart if not unicodedata.combining(char))
