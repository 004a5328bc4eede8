"""Compression: which old entries say so nearly the same that one that quotes them takes their place.

Vectors of sentences that differ in a name, a number, a day or a negation are near each other. So entries are only compressed
together if they have the same of these; and since the entry that takes their place quotes every sentence, nothing is lost by it.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from mnestic.memory.knowledge.claims import make_id
from mnestic.memory.knowledge.derived_entries import quoted_sentences
from mnestic.memory.knowledge.entries import Entry
from mnestic.memory.language.identifiers import find_identifiers
from mnestic.memory.language.numbers import number_of
from mnestic.memory.language.sentences import split_sentences
from mnestic.memory.language.word_lists import read_word_lists

FEWEST, MOST = 3, 12  # entries that are compressed into one
LONGEST = 2000  # characters of that
_FILE = Path(__file__).with_name("compression.yaml")
_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*")
_ARTICLES = ("a", "an")  # they count in "a week ago", and nearly nowhere else
_FIGURES = re.compile(r"\d+(?:[.,:/-]\d+)*")


class Compression(NamedTuple):
    """An entry to be made, by id, and those that are archived for it."""

    entry_id: str
    sources: tuple[str, ...]


class TextValues(NamedTuple):
    """What a text says that a similar one may not say: names, numbers, identifiers, days, and whether it denies or asks."""

    names: frozenset[str]
    numbers: frozenset[str]
    identifiers: frozenset[str]
    times: frozenset[tuple[object, object]]
    is_denied: bool
    is_question: bool


def plan_compressions(
    entries: Mapping[str, Entry], similar: Iterable[tuple[str, str]], *, most: int
) -> tuple[Compression, ...]:
    """Which entries are compressed together: each with those that are similar to it, the largest groups first.

    Args:
        entries: Entries by id, that may be compressed.
        similar: Pairs of them that are similar, by id.
        most: So many at most are archived.
    """
    values = {entry_id: values_of(entry) for entry_id, entry in entries.items()}
    near: defaultdict[str, set[str]] = defaultdict(set)
    for one, other in similar:
        if one in values and other in values and values[one] == values[other]:
            near[one].add(other)
            near[other].add(one)
    plans: list[Compression] = []
    taken: set[str] = set()
    left = most
    for entry_id in sorted(near, key=lambda name: (-len(near[name]), entries[name].at, name)):
        free = sorted(near[entry_id] - taken, key=lambda name: (entries[name].at, name))
        sources = () if entry_id in taken else _fitting([entry_id, *free], entries, most=left)
        if len(sources) >= FEWEST:
            plans.append(Compression(make_id("compressed", *sorted(sources)), sources))
            taken.update(sources)
            left -= len(sources)
    return tuple(plans)


def values_of(entry: Entry) -> TextValues:
    """The values in a text."""
    words = [_WORD.findall(sentence) for sentence in split_sentences(entry.content)]
    all_words = [word for sentence in words for word in sentence]
    small = [word.casefold().replace("\u2019", "'") for word in all_words]
    counted = [word for word in small if word not in _ARTICLES]
    numbers = {str(number) for word in counted if (number := number_of(word)) is not None}
    return TextValues(
        # The first word of a sentence always has a capital, and "I" names nobody.
        names=frozenset(
            word.casefold()
            for sentence in words
            for word in sentence[1:]
            if word[0].isupper() and len(word.partition("'")[0]) > 1
        ),
        numbers=frozenset({*numbers, *_FIGURES.findall(entry.content)}),
        identifiers=frozenset(one.key for one in find_identifiers(entry.content)),
        times=frozenset((time.start, time.end) for time in entry.times),
        is_denied=any(word in _denials() or word.endswith("n't") for word in small),
        is_question="?" in entry.content or "\uff1f" in entry.content,
    )


@cache
def _denials() -> frozenset[str]:
    lists = read_word_lists(_FILE, list[str]).values()
    return frozenset(word for words in lists for word in words)


def _fitting(
    entry_ids: Sequence[str], entries: Mapping[str, Entry], *, most: int
) -> tuple[str, ...]:
    """The first of some entries whose sentences fit into one."""
    fitting: list[str] = []
    for entry_id in entry_ids[: min(MOST, most)]:
        text = quoted_sentences([entries[name].content for name in (*fitting, entry_id)])
        if len(text) <= LONGEST:
            fitting.append(entry_id)
    return tuple(fitting)
