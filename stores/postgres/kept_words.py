"""The names and words of all of an agent's entries, as a process keeps them: what others in a question may be meant as.

Postgres goes through all that begin with the same letter for each of those, in a round trip of its own.
"""

import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping

_WORD_BYTES = 70  # of a word, beside its letters; by tracemalloc

_ByLength = defaultdict[int, dict[str, int]]


class KeptWords:
    """Names, and words with how many entries have them, by their first letters."""

    def __init__(self) -> None:
        self.bytes = 0
        self._names: defaultdict[str, dict[str, int]] = defaultdict(dict)
        self._words: defaultdict[str, _ByLength] = defaultdict(lambda: defaultdict(dict))

    def name(self, names: Iterable[tuple[str, int]]) -> None:
        """Takes names by key, each with 1, so that they are looked through as words are."""
        for name, number in names:
            self._names[name[:1]][name] = number
            self.bytes += _WORD_BYTES + sys.getsizeof(name)

    def count(self, words: Iterable[tuple[str, int]]) -> None:
        """Takes words with how many entries have them."""
        for word, entries in words:
            self._words[word[:1]][len(word)][word] = entries
            self.bytes += _WORD_BYTES + sys.getsizeof(word)

    def names(self, letter: str) -> Mapping[str, int]:
        """Those that begin with a letter, each with 1."""
        return self._names.get(letter, {})

    def begun(self, word: str, *, most: int) -> dict[str, int]:
        """The shortest that begin with a word, with how many entries have them."""
        found: dict[str, int] = {}
        by_length: Mapping[int, dict[str, int]] = self._words.get(word[:1], {})
        for length in sorted(by_length):
            if length >= len(word) and len(found) < most:
                alike = sorted(one for one in by_length[length] if one.startswith(word))
                found |= {one: by_length[length][one] for one in alike[: most - len(found)]}
        return found

    def about_as_long(self, word: str, *, shortest: int, slips: int) -> dict[str, int]:
        """Those with its first letter that are longer or shorter by so many letters at most, with how many entries have them."""
        by_length: Mapping[int, dict[str, int]] = self._words.get(word[:1], {})
        found: dict[str, int] = {}
        for length in range(max(shortest, len(word) - slips), len(word) + slips + 1):
            found |= by_length.get(length, {})
        return found
