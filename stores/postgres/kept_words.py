"""The names and words of all of an agent's entries, as a process keeps them: what others in a question may be meant as.

Postgres goes through all that begin with the same letter for each of those, in a round trip of its own.
"""

import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

_WORD_BYTES = 70  # of a word, beside its letters; by tracemalloc


class KeptWords:
    """Names, and words with how many entries have them, by their first letters; made by `read`."""

    def __init__(self) -> None:
        self.bytes = 0
        self._names: defaultdict[str, dict[str, int]] = defaultdict(dict)
        self._words: defaultdict[str, dict[str, int]] = defaultdict(dict)

    def read(self, names: Iterable[str], words: Iterable[tuple[str, int]]) -> Iterator[None]:
        """Takes names by key, and words (none twice) with how many entries have them, one at each step."""
        for name in names:
            self._names[name[:1]][name] = 1
            self._count(name)
            yield
        for word, entries in words:
            self._words[word[:1]][word] = entries
            self._count(word)
            yield

    def names(self, letter: str) -> Mapping[str, int]:
        """Those that begin with a letter, each with 1."""
        return self._names.get(letter, {})

    def begun(self, word: str, *, most: int) -> dict[str, int]:
        """The shortest that begin with a word, with how many entries have them."""
        found = sorted(
            (len(one), one) for one in self._words.get(word[:1], ()) if one.startswith(word)
        )
        return {one: self._words[word[:1]][one] for _, one in found[:most]}

    def about_as_long(self, word: str, *, shortest: int, slips: int) -> dict[str, int]:
        """Those with its first letter that are longer or shorter by so many letters at most, with how many entries have them."""
        least, most = max(shortest, len(word) - slips), len(word) + slips
        words = self._words.get(word[:1], {})
        return {one: entries for one, entries in words.items() if least <= len(one) <= most}

    def _count(self, word: str) -> None:
        self.bytes += _WORD_BYTES + sys.getsizeof(word)
