"""The names and words of all of an agent's entries, as a process keeps them, with the entries that have each word.

Postgres goes through all that begin with the same letter for each word of a question that is misspelt, and through all
that have one of the others, in round trips of their own.
"""

import sys
from array import array
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from mnestic.memory.candidates import Hit, tuples_of
from mnestic.memory.weighing import SATURATION

LENGTH = 0.75  # how much an entry's length counts, BM25's b
_WORD_BYTES = 110  # of a word, beside its letters; by tracemalloc
_NAME_BYTES, _NAMED_BYTES = 280, 40  # likewise, of a name, and of each entry that has it
_ENTRY_BYTES, _POSTING_BYTES = 24, 6

_NAMING, _KINDS = ("subject", "alias"), ("subject", "alias", "tag")

Posted = tuple[str, Sequence[int], Sequence[int]]  # a word, entries, and how often it is in each
_ByLength = defaultdict[int, dict[str, int]]


class KeptWords:
    """Names, and words with the entries that have them, by their first letters."""

    def __init__(self) -> None:
        self._numbers, self._lengths = np.zeros(0, np.int64), np.zeros(0)
        self._longer = (0.0, self._lengths)  # see `_saturated`
        self._names: defaultdict[str, dict[str, int]] = defaultdict(dict)
        self._newest: dict[tuple[str, str], Sequence[int]] = {}
        self._words: defaultdict[str, _ByLength] = defaultdict(lambda: defaultdict(dict))
        # Where the postings of each word begin: of which entries, by their order, and how often it is in each.
        self._places: dict[str, int] = {}
        self._begins = array("q", [0])
        self._entries, self._frequencies = array("i"), array("h")
        self._names_bytes = self._words_bytes = 0

    def __len__(self) -> int:
        return len(self._places)

    @property
    def bytes(self) -> int:
        """About how much memory it takes."""
        entries = _ENTRY_BYTES * len(self._numbers) + _POSTING_BYTES * len(self._entries)
        return self._names_bytes + self._words_bytes + entries

    def enter(self, entries: Iterable[tuple[int, int]]) -> None:
        """Takes entries by number, with how many words each has; all of them before the first word."""
        numbers, lengths = zip(*entries, strict=True)
        order = np.argsort(all_numbers := np.append(self._numbers, np.array(numbers)))
        self._numbers = all_numbers[order]
        self._lengths = np.append(self._lengths, np.array(lengths, float))[order]

    def name(self, names: Iterable[tuple[str, str, Sequence[int]]]) -> None:
        """Takes names and tags by kind, as in `mnestic.entry_term`, and key, with the newest entries that have each."""
        for kind, name, newest in names:
            self._newest[kind, name] = tuple(newest)
            self._names_bytes += _NAME_BYTES + sys.getsizeof(name) + _NAMED_BYTES * len(newest)
            if kind in _NAMING:
                self._names[name[:1]][name] = 1

    def has(self, name: str) -> bool:
        """Whether it is a name or a tag of some entry."""
        return any((kind, name) in self._newest for kind in _KINDS)

    def newest(self, names: Iterable[tuple[str, str]]) -> list[int]:
        """The newest entries that have each name, by kind and key."""
        return [number for one in names for number in self._newest.get(one, ())]

    def post(self, posted: Sequence[Posted]) -> None:
        """Takes words that it does not have yet, each with its entries."""
        numbers = np.fromiter(chain.from_iterable(each for _, each, _ in posted), np.int64)
        self._entries.frombytes(np.searchsorted(self._numbers, numbers).astype(np.int32).tobytes())
        self._frequencies.extend(chain.from_iterable(each for *_, each in posted))
        for word, those, _ in posted:
            self._words[word[:1]][len(word)][word] = len(those)
            self._places[word] = len(self._begins) - 1
            self._begins.append(self._begins[-1] + len(those))
            self._words_bytes += _WORD_BYTES + sys.getsizeof(word)

    def names(self, letter: str) -> Mapping[str, int]:
        """Those that begin with a letter, each with 1, so that they are looked through as words are."""
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

    def best(
        self, asked: Iterable[tuple[str, float, int]], *, average: float, limit: int
    ) -> dict[int, Hit]:
        """The entries with the highest BM25, by number; of equal ones the newest.

        Args:
            asked: Words, how telling each is, and its bit.
            average: How many words an entry has.
            limit: How many entries are told at most.
        """
        scores = np.zeros(len(self._numbers))
        bits = np.zeros(len(self._numbers), dtype=np.int64)
        longer = self._saturated(average)
        for word, weight, bit in asked:
            entries, frequencies = self._posted(word)
            said = frequencies * (SATURATION + 1) / (frequencies + longer[entries])
            scores[entries] += float(np.float32(weight)) * said
            bits[entries] |= bit
        found = np.flatnonzero(bits)
        told = scores[found].astype(np.float32)
        if limit < len(found):
            most = told >= np.partition(told, len(told) - limit)[len(told) - limit]
            found, told = found[most], told[most]
        order = np.lexsort((found, told))[::-1][:limit]
        found = found[order]
        hits = tuples_of(Hit, told[order].tolist(), bits[found].tolist())
        return dict(zip(self._numbers[found].tolist(), hits, strict=True))

    def _saturated(self, average: float) -> NDArray[np.float64]:
        """How often a word has to be in each entry to count half of the most, by its length; of the last average that was asked for."""
        if self._longer[0] != average:
            share = LENGTH * self._lengths / float(np.float32(average))
            self._longer = average, SATURATION * ((1 - LENGTH) + share)
        return self._longer[1]

    def _posted(self, word: str) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """The entries that have a word, by their order, and how often it is in each."""
        if (place := self._places.get(word)) is None:
            return np.zeros(0, np.int32), np.zeros(0)
        begin = self._begins[place]
        count = self._begins[place + 1] - begin
        entries = np.frombuffer(self._entries, np.int32, count, 4 * begin)
        return entries, np.frombuffer(self._frequencies, np.int16, count, 2 * begin).astype(float)
