"""Candidates of a search as they stand in Postgres: what is read of an entry, and what that says.

It stands apart from the sources that bring them, since each of them is described in the same way.
"""

import json
import math
import re
import sys
from collections import defaultdict
from collections.abc import Collection, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic_core import from_json

from mnestic.memory.candidates import CONCERNS, PACKED, ROW, Candidates
from mnestic.memory.change_words import is_revision
from mnestic.memory.claims import name_key
from mnestic.memory.entries import Entry
from mnestic.memory.search import Search
from mnestic.memory.terms import terms_of
from mnestic.memory.time_mentions import tells_when
from mnestic.stores.postgres.stored import read_stored

# What lines are made of; names of columns are the fields of `EntryLine`.
COLUMNS_BESIDE = """
       e.number, e.id, e.session_id, e.speaker, e.subjects::text AS subjects, e.at, e.importance,
       e.aliases::text AS aliases, e.tags::text AS tags, e.entry_type, e.times::text AS times,
       e.status, e.expires_at
"""  # the content
COLUMNS = f"{COLUMNS_BESIDE}, e.content"
_STORED = tuple(name for name in Entry.model_fields if name not in ("id", "content", "session_id"))
# All else of an entry, as JSON: what is told of it without asking again.
STORED_COLUMN = (
    f"CAST(jsonb_build_array({', '.join(f'e.{name}' for name in _STORED)}) AS text) AS stored"
)
SMALL = 4000  # characters of a content that is worth keeping
_BEGINNING = 1000  # characters that are compared word by word
# Of a line of some twenty words, beside its content; of an entry that is made of it, beside twice what is stored, and
# for each time that it names; by tracemalloc.
_ROW_BYTES = 1500
_ENTRY_BYTES, _TIME_BYTES = 3000, 600
# Of a row, all that depends on the question: from `is_said` on.
_OPEN_QUESTION = (False, False, 0, 0, 0.0, 0, 0.0, 0.0, 0.0)
_OPEN, _NAMED, _MENTIONED, _OTHER = map(CONCERNS.index, ("open", "named", "mentioned", "other"))

Patterns = Sequence[tuple[str, re.Pattern[str]]]  # first words of names, with all that begin so


@dataclass(frozen=True, slots=True, eq=False)
class Whose:
    """Who said an entry, and whom it is about, by key; entries of the same have the same one."""

    speaker: str
    subjects: frozenset[str]
    aliases: frozenset[str]

    def is_about(self, names: frozenset[str]) -> bool:
        """Whether it is about somebody of one of the names."""
        return not (names.isdisjoint(self.subjects) and names.isdisjoint(self.aliases))


@dataclass(slots=True, eq=False, kw_only=True)
class EntryLine:
    """An entry as far as searches need it, whatever they ask.

    `marks` are tags and aliases; `row` is one of `ROW`, in which all is 0 that depends on the question. `stored` is the
    rest of what is told of it, if that was read, and `accesses` how often it has been told since, and when.
    """

    number: int
    entry_id: str
    session_id: str | None
    whose: Whose
    marks: frozenset[str]
    is_turn: bool
    revises: bool
    times: tuple[tuple[datetime, datetime], ...]
    content: str
    row: bytes
    stored: str | None = None
    accesses: tuple[int, datetime] | None = None
    _folded: str | None = None
    _terms: tuple[str, ...] | None = None

    @property
    def is_small(self) -> bool:
        """Whether it is worth keeping."""
        return len(self.content) <= SMALL

    @property
    def bytes(self) -> int:
        """About how much memory it takes, once its words have been looked at."""
        length = len(self.content)
        texts = 2 * sys.getsizeof(self.content) + 2 * min(length, _BEGINNING)
        return _ROW_BYTES + texts + (sys.getsizeof(self.stored) if self.stored else 0)

    @property
    def entry_bytes(self) -> int:
        """About how much memory its entry takes beside it."""
        assert self.stored is not None
        return _ENTRY_BYTES + 2 * sys.getsizeof(self.stored) + _TIME_BYTES * len(self.times)

    @property
    def speaker(self) -> str:
        """The key of who said it."""
        return self.whose.speaker

    @property
    def subjects(self) -> frozenset[str]:
        """The keys of whom it is about."""
        return self.whose.subjects

    @property
    def folded(self) -> str:
        """What it says, as names are folded."""
        if self._folded is None:
            self._folded = self.content.casefold()
        return self._folded

    def terms(self) -> tuple[str, ...]:
        """The words that it begins with, each once."""
        if self._terms is None:
            # Many words are those of other lines as well, and are kept once.
            terms = dict.fromkeys(terms_of(self.content[:_BEGINNING]))
            self._terms = tuple(map(_shared, terms))
        return self._terms

    def entry(self, made: Entry | None = None) -> Entry:
        """The entry, of which all is known; the one that was made before, unless it has been counted as told since."""
        assert self.stored is not None
        entry = made or entry_of(
            self.stored, id=self.entry_id, session_id=self.session_id, content=self.content
        )
        if self.accesses in (None, (entry.access_count, entry.last_accessed)):
            return entry
        count, last = self.accesses
        return entry.model_copy(update={"access_count": count, "last_accessed": last})

    def prepare(self) -> None:
        """Works out ahead what questions ask of most lines like it."""
        self.terms()


def entry_of(stored: str, **others: str | None) -> Entry:
    """An entry out of `STORED_COLUMN` and its other columns.

    Raises:
        StoredValueError: somebody else has written what makes no entry.
    """
    columns = dict(zip(_STORED, from_json(stored), strict=True)) | others
    return read_stored(Entry, columns, what=f"entry {others['id']}")


def line_of(row: Any) -> EntryLine:
    """A line out of the columns of its row."""
    is_turn = row.entry_type == "interaction"
    times = _times(row.times) if row.times != "[]" else ()
    asks = row.content.rstrip().endswith(("?", "\uff1f"))
    revises = is_revision(row.content)
    names_time = bool(times) or tells_when(row.content)
    numbers = (row.number, row.at.timestamp(), held_until(row), row.importance)
    return EntryLine(
        number=row.number,
        entry_id=row.id,
        session_id=row.session_id,
        whose=_whose(row.speaker or "", row.subjects, row.aliases),
        marks=_marks(row.tags, row.aliases, row.entry_type),
        is_turn=is_turn,
        revises=revises,
        times=times,
        content=row.content,
        row=PACKED.pack(*numbers, is_turn, asks, revises, names_time, *_OPEN_QUESTION),
    )


def held_until(row: Any) -> float:
    """Until when an entry holds; see `mnestic.memory.candidates.ROW`."""
    ends_at = math.inf if row.expires_at is None else row.expires_at.timestamp()
    return ends_at if row.status == "active" else -math.inf


def candidates_of(
    lines: Collection[EntryLine], search: Search, *, held: AbstractSet[int] | None = None
) -> Candidates:
    """Candidates of lines; of those that do not hold, or are not among those that were let through, the numbers."""
    if not lines:
        return Candidates()
    rows = np.frombuffer(b"".join([line.row for line in lines]), ROW)
    if held is None:
        holds = rows["holds_until"] > search.now.timestamp()
    else:
        holds = np.array([line.number in held for line in lines])
    texts = [*compress(lines, holds.tolist())]
    ruled_out = frozenset(rows["number"][~holds].tolist())
    rows = rows[holds]  # a copy, which may be written to
    if search.names:
        _concern(rows, texts, search)
    if search.tags:
        tagged = {line.marks: not search.tags.isdisjoint(line.marks) for line in texts}
        rows["is_tagged"] = [tagged[line.marks] for line in texts]
    return Candidates(rows, texts, ruled_out)


def _concern(rows: NDArray[Any], lines: Sequence[EntryLine], search: Search) -> None:
    """Notes what each line has to do with whom the question names."""
    patterns = patterns_of(search.names)
    by = {whose: _concerns_by(whose, search.names) for whose in {line.whose for line in lines}}
    concerns = [by[line.whose][line.is_turn] for line in lines]
    for place in [place for place, concern in enumerate(concerns) if concern is None]:
        line = lines[place]
        if names_one(line.folded, patterns):
            concerns[place] = _MENTIONED if line.is_turn else _NAMED
        else:
            concerns[place] = _OTHER if line.is_turn or line.whose.subjects else _OPEN
    rows["concern"] = concerns
    rows["is_said"] = rows["is_turn"] & (rows["concern"] == _NAMED)
    if search.persons:
        concerned = np.isin(rows["concern"], (_NAMED, _MENTIONED))
        for place in np.flatnonzero(concerned).tolist():
            rows["persons"][place] = _persons(lines[place], search.persons)


def _concerns_by(whose: Whose, names: frozenset[str]) -> tuple[int | None, int | None]:
    """What by whom and of whom it is tells of what is no turn and of a turn; None where what it says has to be looked at."""
    if whose.is_about(names):
        return _NAMED, _NAMED if whose.speaker in names else _MENTIONED
    return None, _NAMED if whose.speaker in names else None


def _persons(line: EntryLine, persons: Sequence[frozenset[str]]) -> int:
    """A bit for each of those between whom something is asked for that it has to do with."""
    return sum(
        1 << place
        for place, person in enumerate(persons)
        if (line.is_turn and line.whose.speaker in person)
        or line.whose.is_about(person)
        or names_one(line.folded, patterns_of(person))
    )


def names_one(folded: str, patterns: Patterns) -> bool:
    """Whether one of the names is a word of a text; most texts do not even have its letters."""
    for first, pattern in patterns:
        # At these places alone, as a pattern takes long to go through a long text.
        begin = folded.find(first)
        while begin >= 0:
            if pattern.match(folded, max(0, begin - 1)):
                return True
            begin = folded.find(first, begin + 1)
    return False


@lru_cache(1000)
def patterns_of(names: frozenset[str]) -> Patterns:
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
def _whose(speaker: str, subjects: str, aliases: str) -> Whose:
    """The same one for all entries of the same, as they are stored."""
    return Whose(_key(speaker) if speaker else "", _keys(subjects), _keys(aliases))


@lru_cache(10_000)
def _marks(tags: str, aliases: str, entry_type: str) -> frozenset[str]:
    """What an entry is found by as by a tag; a type is asked for as a tag is."""
    return _keys(tags) | _keys(aliases) | {f"type:{entry_type}"}


@lru_cache(10_000)
def _keys(stored: str) -> frozenset[str]:
    """The keys of names as they are stored; many entries share them."""
    return frozenset(name_key(name) for name in json.loads(stored))


def _times(stored: str) -> tuple[tuple[datetime, datetime], ...]:
    return tuple(
        (datetime.fromisoformat(one["start"]), datetime.fromisoformat(one["end"]))
        for one in json.loads(stored)
    )
