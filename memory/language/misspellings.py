"""Slips: how far a word may be from the one that it was meant as, and when it is rather another name.

Stores look for words that are near, and whoever reads a question says what that is worth.
"""

import unicodedata
from itertools import takewhile

from mnestic.memory.language.date_words import date_words

_LONG = 8  # characters; from here on two errors are
# Keys beside one another, in rows; vowels stand apart, since one for another makes another name.
_KEYS = "qwertyu i op asdfghjkl zxcvbnm"
_STROKES = str.maketrans("øłđı", "oldi")


def max_misspellings(word: str) -> int:
    """How many letters of a word may be wrong."""
    return 2 if len(word) >= _LONG else 1


def is_completed(word: str, meant: str) -> bool:
    """Whether a word begins what it was read as, and that is no day or month: *Alex* of *Alexander*, but not *Frida* of *Friday*."""
    return meant.startswith(word.casefold()) and meant not in date_words().telling


def may_be_other_name(name: str, meant: str, *, is_common: bool) -> bool:
    """Whether a name that is a slip away from a known one may well be somebody else's.

    It is not where a hand slips so: letters change places, one is left out or comes twice, the key beside is
    hit, marks are left out. Another letter in the place of one, and another ending, make another name: *Marta*,
    *Mario* and *Mari* are not *Maria*.

    Args:
        name: As it was asked, folded.
        meant: The known one.
        is_common: Whether it is known as a name by itself.
    """
    name, meant = _plain(name), _plain(meant)
    return name != meant and (is_common or not _is_typed(name, meant))


def _is_typed(name: str, meant: str) -> bool:
    begins = _same(name, meant)
    ends = _same(name[begins:][::-1], meant[begins:][::-1])
    typed, lost = name[begins : len(name) - ends], meant[begins : len(meant) - ends]
    if sorted(typed) == sorted(lost):
        return True
    if ends and (not typed or len(name) >= _LONG):  # few long names differ inside
        return True
    if max(len(typed), len(lost)) > 1:
        return False
    longer = max(name, meant, key=len)
    around = longer[begins - 1 : begins] + longer[begins + 1 : begins + 2]
    return any(_is_beside(typed or lost, key) for key in (lost if typed and lost else around))


def _same(word: str, other: str) -> int:
    """With how many of the same letters two words begin."""
    return len([*takewhile(lambda both: both[0] == both[1], zip(word, other, strict=False))])


def _is_beside(key: str, other: str) -> bool:
    return key == other or f"{key}{other}" in _KEYS or f"{other}{key}" in _KEYS


def _plain(word: str) -> str:
    """A word without the marks of its letters."""
    apart = unicodedata.normalize("NFKD", word).translate(_STROKES)
    return "".join(char for char in apart if not unicodedata.combining(char))
