"""Makes candidates out of the rows of `find_candidates.sql`."""

import json
import math
import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnestic.memory.knowledge.claims import name_key
from mnestic.memory.knowledge.entry_features import EntryFeatures
from mnestic.memory.knowledge.subjects import USER
from mnestic.memory.language.data_texts import is_data
from mnestic.memory.language.terms import first_terms, word_starts
from mnestic.memory.retrieval.candidates import PERSON_MATCHES, ROW, Candidates
from mnestic.memory.retrieval.search import ParsedQuery

_MOST_CHARS, _MOST_WORDS = 100_000, 16_383  # of a text, as `find_candidates.sql` counts them
_HALVES = 4  # of passages: two of the passage, one before and one after it
_OPEN, _NAMED, _MENTIONED, _OTHER = map(
    PERSON_MATCHES.index, ("open", "named", "mentioned", "other")
)


@dataclass(frozen=True, slots=True)
class Attribution:
    """The attribution of an entry: the keys of its speaker and of its subjects."""

    speaker: str
    subjects: frozenset[str]
    aliases: frozenset[str]

    def is_about(self, names: frozenset[str]) -> bool:
        """Whether one of the names is a subject."""
        return not (names.isdisjoint(self.subjects) and names.isdisjoint(self.aliases))


@dataclass(slots=True, eq=False, kw_only=True)
class CandidateRow:
    """The texts of an entry that ranking needs; see `mnestic.memory.retrieval.candidates.CandidateText`."""

    entry_id: str
    session_id: str | None
    attribution: Attribution
    is_turn: bool
    content: str
    stored_times: str
    tokens: bytes | None
    half_passages: tuple[int, int] | None
    _folded: str | None = None
    _passage: str | None = None
    _terms: tuple[str, ...] | None = None

    @property
    def speaker(self) -> str:
        """The key of its speaker."""
        return self.attribution.speaker

    @property
    def subjects(self) -> frozenset[str]:
        """The keys of its subjects."""
        return self.attribution.subjects

    @property
    def times(self) -> tuple[tuple[datetime, datetime], ...]:
        """The times that it names; few queries need them."""
        return _times(self.stored_times) if self.stored_times != "[]" else ()

    @property
    def passage(self) -> str:
        """The passage with half of one before and after it; empty if that is the whole text.

        Postgres counts words a little differently, so the place is an estimate.
        """
        if self._passage is None:
            self._passage = self._find_passage()
        return self._passage

    def _find_passage(self) -> str:
        half, last = self.half_passages or (0, 0)
        if last < _HALVES:
            return ""
        content = self.content[:_MOST_CHARS]
        starts = [0, *word_starts(content)[1:_MOST_WORDS], len(content)]
        first, end = (round(one * (len(starts) - 1) / (last + 1)) for one in (half - 1, half + 3))
        return content[starts[max(0, first)] : starts[min(end, len(starts) - 1)]]

    @property
    def folded(self) -> str:
        """Its text, in lower case like names."""
        if self._folded is None:
            self._folded = self.content.casefold()
        return self._folded

    def terms(self) -> tuple[str, ...]:
        """The words at its beginning, each once."""
        if self._terms is None:
            self._terms = first_terms(self.content)
        return self._terms


def candidates_of(rows: Sequence[Any], parsed: ParsedQuery) -> Candidates:
    """The candidates among rows that the query allows."""
    now = parsed.known.now.timestamp()
    good = [
        row
        for row in rows
        if (_holds_until(row) > now if row.is_allowed is None else row.is_allowed)
    ]
    table = np.zeros(len(good), ROW)
    texts = _texts(good)
    for name in ("number", "at", "importance"):
        table[name] = [getattr(row, name) for row in good]
    table["is_superseded"] = [row.is_superseded for row in good]
    table["is_turn"] = [text.is_turn for text in texts]
    for name, mark in _FEATURE_FLAGS.items():
        table[name] = [row.features & mark != 0 for row in good]
    table["words"] = [row.bm25 or 0.0 for row in good]
    table["lexemes"] = [row.bits or 0 for row in good]
    table["cosine"] = [row.cosine or 0.0 for row in good]
    if parsed.is_by_words:
        table["cosine"] *= table["lexemes"] != 0
    if parsed.names:
        _set_person_matches(table, texts, parsed)
    if parsed.tags:
        keys = _key_reader()
        table["is_tagged"] = [_is_tagged(row, parsed.tags, keys) for row in good]
    return Candidates(table, texts)


# As numbers, since each test of an enum flag makes another object.
_FEATURE_FLAGS = {
    "asks": int(EntryFeatures.ASKS),
    "names_time": int(EntryFeatures.NAMES_TIME),
}


def _texts(rows: Sequence[Any]) -> list[CandidateRow]:
    """The texts of entries. Entries of the same people share one attribution."""
    keys = _key_reader()

    @cache
    def attribution(speaker: str, subjects: str, aliases: str) -> Attribution:
        return Attribution(name_key(speaker) if speaker else "", keys(subjects), keys(aliases))

    return [
        CandidateRow(
            entry_id=row.id,
            session_id=row.session_id,
            attribution=attribution(row.speaker or "", row.subjects, row.aliases),
            is_turn=row.entry_type == "interaction",
            content=row.content,
            stored_times=row.times,
            tokens=row.tokens,
            half_passages=row.half_passages,
        )
        for row in rows
    ]


def _key_reader() -> Callable[[str], frozenset[str]]:
    """A cached reader of stored names as keys. It lasts for one search, whose entries have many names in common."""

    @cache
    def keys(stored: str) -> frozenset[str]:
        return frozenset(map(name_key, json.loads(stored))) if stored != "[]" else frozenset()

    return keys


def _holds_until(row: Any) -> float:
    """Until when an entry holds, in seconds since 1970; an archived one until minus infinity."""
    if row.status != "active":
        return -math.inf
    return math.inf if row.expires_at is None else float(row.expires_at)


def _is_tagged(row: Any, tags: frozenset[str], keys: Callable[[str], frozenset[str]]) -> bool:
    """Whether an entry has one of the tags as a tag, an alias or its type."""
    has = keys(row.tags) | keys(row.aliases) | {f"type:{row.entry_type}"}
    return not tags.isdisjoint(has)


def _set_person_matches(
    table: NDArray[Any], texts: Sequence[CandidateRow], parsed: ParsedQuery
) -> None:
    """Sets the person match of each candidate."""
    mentions = _mentions(parsed.names)
    matches = []
    for text in texts:
        is_about = text.attribution.is_about(parsed.names)
        is_of_user = USER in parsed.names and not (text.is_turn or text.subjects)
        if is_of_user or (text.is_turn and text.speaker in parsed.names):
            matches.append(_NAMED)
        elif is_about or mentions(text.folded):
            is_mention = text.is_turn and not is_about and not is_data(text.content)
            matches.append(_MENTIONED if is_mention else _NAMED)
        else:
            matches.append(_OTHER if text.is_turn or text.subjects else _OPEN)
    table["person_match"] = matches
    table["is_by_named_speaker"] = [text.is_turn and text.speaker in parsed.names for text in texts]


def _mentions(names: frozenset[str]) -> Callable[[str], bool]:
    """A test of whether a text has one of the names as a word. Most texts lack the letters, which is checked first."""
    by_first: defaultdict[str, list[str]] = defaultdict(list)
    for name in sorted(names):
        by_first[name.partition(" ")[0]].append(r"\s+".join(map(re.escape, name.split())))
    patterns = [
        (first, re.compile(rf"(?:^|\W)(?:{'|'.join(words)})(?:$|\W)"))
        for first, words in by_first.items()
    ]

    def mentions(folded: str) -> bool:
        return any(
            first in folded and pattern.search(folded) is not None for first, pattern in patterns
        )

    return mentions


def _times(stored: str) -> tuple[tuple[datetime, datetime], ...]:
    return tuple(
        (datetime.fromisoformat(one["start"]), datetime.fromisoformat(one["end"]))
        for one in json.loads(stored)
    )
