"""Candidates of a search as they stand in Postgres: what is read of an entry, and what that says.

It stands apart from the sources that bring them, since each of them is described in the same way.
"""

import json
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property, lru_cache
from typing import Any

from mnestic.memory.candidates import Candidate, Concern
from mnestic.memory.claims import name_key
from mnestic.memory.search import Search
from mnestic.memory.terms import terms_of

# What lines are made of; names of columns are the fields of `EntryLine`.
COLUMNS = """
       e.number, e.id, e.session_id, e.speaker, e.subjects::text AS subjects, e.at, e.importance,
       e.aliases::text AS aliases, e.tags::text AS tags, e.entry_type, e.times::text AS times, e.content,
       e.status, e.expires_at
"""
_SMALL = 4000  # characters of a content that is worth keeping
_BEGINNING = 1000  # characters that are compared word by word
_ROW_BYTES = 1500  # of a line of some twenty words, beside its content; by tracemalloc


@dataclass(frozen=True, kw_only=True)
class EntryLine:
    """An entry as far as searches need it, whatever they ask."""

    number: int
    entry_id: str
    session_id: str | None
    speaker: str
    subjects: frozenset[str]
    aliases: frozenset[str]
    tags: frozenset[str]
    at: datetime
    importance: float
    is_turn: bool
    asks: bool
    times: tuple[tuple[datetime, datetime], ...]
    content: str
    is_active: bool
    expires_at: datetime | None

    @property
    def is_small(self) -> bool:
        """Whether it is worth keeping."""
        return len(self.content) <= _SMALL

    @property
    def bytes(self) -> int:
        """About how much memory it takes, once its words have been looked at."""
        return _ROW_BYTES + 2 * sys.getsizeof(self.content) + 2 * len(self.content[:_BEGINNING])

    @cached_property
    def folded(self) -> str:
        """What it says, as names are folded."""
        return self.content.casefold()

    @cached_property
    def _terms(self) -> tuple[str, ...]:
        # Many words are those of other lines as well, and are kept once.
        return tuple(map(_shared, dict.fromkeys(terms_of(self.content[:_BEGINNING]))))

    def terms(self) -> tuple[str, ...]:
        """The words that it begins with, each once."""
        return self._terms

    def holds_at(self, moment: datetime) -> bool:
        """Whether it is neither archived nor expired."""
        return self.is_active and (self.expires_at is None or self.expires_at > moment)


def line_of(row: Any) -> EntryLine:
    """A line out of the columns of its row."""
    return EntryLine(
        number=row.number,
        entry_id=row.id,
        session_id=row.session_id,
        speaker=_key(row.speaker) if row.speaker else "",
        subjects=_keys(row.subjects),
        aliases=_keys(row.aliases),
        tags=_keys(row.tags) | {f"type:{row.entry_type}"},  # a type is asked for as a tag is
        at=row.at,
        importance=row.importance,
        is_turn=row.entry_type == "interaction",
        asks=row.content.rstrip().endswith(("?", "\uff1f")),
        times=_times(row.times) if row.times != "[]" else (),
        content=row.content,
        is_active=row.status == "active",
        expires_at=row.expires_at,
    )


def candidates_of(
    lines: Iterable[EntryLine], search: Search, *, held: AbstractSet[int] | None = None
) -> dict[int, Candidate | None]:
    """Candidates by number; None for lines that do not hold, or are not among those that were let through."""
    now = search.now
    return {
        line.number: _candidate(line, search)
        if (line.holds_at(now) if held is None else line.number in held)
        else None
        for line in lines
    }


def _candidate(line: EntryLine, search: Search) -> Candidate:
    """What an entry is, as far as the question is concerned."""
    names, is_turn = search.names, line.is_turn
    is_said = is_turn and line.speaker in names
    concern: Concern = "open"
    if is_said:
        concern = "named"
    elif names and _is_about(line, names):
        concern = "mentioned" if is_turn else "named"
    elif names and (is_turn or line.subjects):
        concern = "other"
    return Candidate(
        number=line.number,
        entry_id=line.entry_id,
        at=line.at,
        session_id=line.session_id,
        is_turn=is_turn,
        asks=line.asks,
        names_time=bool(line.times),
        times=line.times if search.period is not None else (),
        concern=concern,
        persons=_persons(line, search.persons) if concern in {"named", "mentioned"} else 0,
        is_said=is_said,
        is_tagged=not (search.tags.isdisjoint(line.tags) and search.tags.isdisjoint(line.aliases)),
        importance=line.importance,
        terms=line.terms,
    )


def _persons(line: EntryLine, persons: Sequence[frozenset[str]]) -> int:
    """A bit for each of those between whom something is asked for that it has to do with."""
    return sum(
        1 << place
        for place, person in enumerate(persons)
        if (line.is_turn and line.speaker in person) or _is_about(line, person)
    )


def _is_about(line: EntryLine, names: frozenset[str]) -> bool:
    """Whether an entry is about somebody of one of the names, or mentions them."""
    return (
        not names.isdisjoint(line.subjects)
        or not names.isdisjoint(line.aliases)
        or _names_one(line.folded, names)
    )


def _names_one(folded: str, names: frozenset[str]) -> bool:
    """Whether one of the names is a word of a text; most texts do not even have its letters."""
    return any(first in folded and pattern.search(folded) for first, pattern in _patterns(names))


@lru_cache(1000)
def _patterns(names: frozenset[str]) -> tuple[tuple[str, re.Pattern[str]], ...]:
    """For each first word of names a pattern of texts in which one of those is."""
    by_first: defaultdict[str, list[str]] = defaultdict(list)
    for name in sorted(names):
        by_first[name.partition(" ")[0]].append(r"\s+".join(map(re.escape, name.split())))
    return tuple(
        (first, re.compile(rf"(?:^|\W)(?:{'|'.join(words)})(?:$|\W)"))
        for first, words in by_first.items()
    )


@lru_cache(50_000)
def _shared(word: str) -> str:
    """The same word as it was seen first."""
    return word


@lru_cache(10_000)
def _key(name: str) -> str:
    return name_key(name)


@lru_cache(10_000)
def _keys(stored: str) -> frozenset[str]:
    """The keys of names as they are stored; many entries share them."""
    return frozenset(name_key(name) for name in json.loads(stored))


def _times(stored: str) -> tuple[tuple[datetime, datetime], ...]:
    return tuple(
        (datetime.fromisoformat(one["start"]), datetime.fromisoformat(one["end"]))
        for one in json.loads(stored)
    )
