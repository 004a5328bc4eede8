"""Duplicates: which entries say the same, and which of them stays.

Vectors cannot decide it alone: two tickets, two prices, a sentence and its negation, or oil and gas are near each other as well.
So entries say the same only if their words are the same. Where words differ that add nothing, such as "really", their vectors have
to be near each other, too.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from mnestic.memory.knowledge.entries import Entry
from mnestic.memory.language.identifiers import find_identifiers
from mnestic.memory.language.word_lists import read_word_lists
from mnestic.memory.packing import key_of

_FILE = Path(__file__).with_name("duplicates.yaml")
_QUESTION = re.compile(r"[?\uff1f]")


class AlikeEntries(NamedTuple):
    """Entries that may say the same, by id, and the number of the first."""

    ids: tuple[str, ...]
    number: int


class Merge(NamedTuple):
    """An entry that goes, by id, and the one that says the same and stays."""

    merged: str
    kept: str


class MergePlan(NamedTuple):
    """Entries that say the same, and those that do if their vectors are near each other."""

    certain: tuple[Merge, ...]
    likely: tuple[Merge, ...]


class _Statement(NamedTuple):
    """What an entry says, apart from case, spaces and punctuation: its words, and what must not differ in a sign either."""

    words: tuple[str, ...]
    identifiers: tuple[str, ...]
    questions: int
    times: tuple[tuple[object, object], ...]

    @property
    def telling(self) -> "_Statement":
        """The same without words that add nothing."""
        nothing = words_that_add_nothing()
        return self._replace(words=tuple(word for word in self.words if word not in nothing))


def plan_merges(entries: Sequence[Entry]) -> MergePlan:
    """Which of some entries are to be merged. Critical ones stay.

    What is said again stays with its latest date, so that an answer by it is up to date.

    Args:
        entries: With the same names, type and end; their words may be the same.
    """
    by_telling: defaultdict[_Statement, list[Entry]] = defaultdict(list)
    statements = {entry.id: _statement(entry) for entry in entries}
    for entry in entries:
        by_telling[statements[entry.id].telling].append(entry)
    certain: list[Merge] = []
    likely: list[Merge] = []
    for group in by_telling.values():
        by_words: defaultdict[_Statement, list[Entry]] = defaultdict(list)
        for entry in group:
            by_words[statements[entry.id]].append(entry)
        remaining = _remaining(group)
        for same in by_words.values():
            nearest = _remaining(same)
            certain += _merges(same, into=nearest)
            likely += _merges([nearest], into=remaining)
    return MergePlan(tuple(certain), tuple(likely))


def joined(certain: Iterable[Merge], confirmed: Iterable[Merge]) -> dict[str, str]:
    """What each merged entry is merged into in the end: of one that stays only until it is merged itself, into what that is."""
    later = {merge.merged: merge.kept for merge in confirmed}
    return later | {merge.merged: later.get(merge.kept, merge.kept) for merge in certain}


@cache
def words_that_add_nothing() -> frozenset[str]:
    """Words in which entries that say the same may differ, of all languages."""
    lists = read_word_lists(_FILE, list[str]).values()
    return frozenset(word for words in lists for word in words)


def _statement(entry: Entry) -> _Statement:
    return _Statement(
        words=tuple(key_of(entry.content).split()),
        identifiers=tuple(one.key for one in find_identifiers(entry.content)),
        questions=len(_QUESTION.findall(entry.content)),
        times=tuple((time.start, time.end) for time in entry.times),
    )


def _remaining(entries: Sequence[Entry]) -> Entry:
    return max(entries, key=lambda entry: (entry.critical, entry.at, entry.id))


def _merges(entries: Iterable[Entry], *, into: Entry) -> list[Merge]:
    return [
        Merge(entry.id, into.id) for entry in entries if entry.id != into.id and not entry.critical
    ]
