"""Spans: where the words that somebody quotes stand in a text.

A model quotes and does not count, and what it quotes has to be there. Nothing is guessed: words that are not in the
text have no span.
"""

import unicodedata
from collections.abc import Iterator
from functools import cached_property

from mnestic.memory.knowledge.claims import Span

_PLAIN = str.maketrans(
    dict.fromkeys("\u2018\u2019\u201b\u02bc", "'") | dict.fromkeys("\u201c\u201d\u201f", '"')
)
_JAMO = ("\u1160", "\u11ff")  # vowels and ends of a Hangul syllable that is not composed


class QuotedText:
    """A text, and where in it quoted words stand.

    Characters count as the same whose difference no reader sees: however an accent is composed, any
    white space for any, typographic quotation marks for plain ones. Case, letters and punctuation have
    to be right, and words are whole: "Ghent" is not in "Ghentbrugge".
    """

    def __init__(self, text: str) -> None:
        self._text = text

    def find(self, words: str) -> Span | None:
        """The first place at which the words stand, or None."""
        words = words.strip()
        if not any(map(str.isalnum, words)):
            return None
        for start in _starts(self._text, words):
            if self._is_whole(start, start + len(words)):
                return Span(start=start, end=start + len(words))
        text, places = self._folded
        sought, _ = _fold(words)
        for first in _starts(text, sought):
            last = first + len(sought)
            parted = places[first - 1 : first] == places[first : first + 1] or (
                places[last - 1 : last] == places[last : last + 1]
            )  # a letter from its accent, of two that no single character is
            start, end = places[first][0], places[last - 1][1]
            if not parted and self._is_whole(start, end):
                return Span(start=start, end=end)
        return None

    @cached_property
    def _folded(self) -> tuple[str, list[tuple[int, int]]]:
        return _fold(self._text)

    def _is_whole(self, start: int, end: int) -> bool:
        """Whether neither end parts a word, or an accent from its letter."""
        parted = _joins(self._text[start]) or (end < len(self._text) and _joins(self._text[end]))
        return not (parted or self._is_within(start) or self._is_within(end))

    def _is_within(self, place: int) -> bool:
        """Whether a place is inside a word; scripts without case may put no space between words."""
        if not 0 < place < len(self._text):
            return False
        around = self._text[place - 1 : place + 1]
        return all(map(str.isalnum, around)) and not any(
            unicodedata.category(character) == "Lo" for character in around
        )


def _starts(text: str, words: str) -> Iterator[int]:
    place = text.find(words)
    while place >= 0:
        yield place
        place = text.find(words, place + 1)


def _fold(text: str) -> tuple[str, list[tuple[int, int]]]:
    """A text without differences that no reader sees, and where each of its characters came from."""
    folded: list[str] = []
    places: list[tuple[int, int]] = []
    start = 0
    while start < len(text):
        end = start + 1
        is_space = text[start].isspace()
        while end < len(text) and (text[end].isspace() if is_space else _joins(text[end])):
            end += 1
        plain = " " if is_space else unicodedata.normalize("NFC", text[start:end]).translate(_PLAIN)
        folded.append(plain)
        places.extend([(start, end)] * len(plain))
        start = end
    return "".join(folded), places


def _joins(character: str) -> bool:
    """Whether a character belongs to the one before it."""
    return unicodedata.category(character)[0] == "M" or _JAMO[0] <= character <= _JAMO[1]
