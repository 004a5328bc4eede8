"""Candidates of a search as they stand in Postgres: what is read of an entry, and what that says.

It stands apart from the sources that bring them, since each of them is described in the same way.
"""

import json
from collections.abc import Collection
from datetime import datetime
from functools import lru_cache
from typing import Any

from mnestic.memory.claims import name_key
from mnestic.memory.ranking import Candidate, Concern
from mnestic.memory.search import Search

COLUMNS = """
       e.number, e.id, e.session_id, e.speaker, e.subjects::text AS subjects, e.at, e.importance,
       e.aliases::text AS aliases, e.tags::text AS tags, e.entry_type = 'interaction' AS is_turn,
       e.times <> '[]' AS names_time, CASE WHEN CAST(:timed AS boolean) THEN e.times::text END AS times,
       right(rtrim(e.content), 1) IN ('?', '\uff1f') AS asks,
       CASE WHEN CAST(:worded AS boolean) THEN left(e.content, 1000) ELSE '' END AS beginning,
       CAST(:pattern AS text) IS NOT NULL AND e.content ~* CAST(:pattern AS text) AS names_one
"""


def concerning(search: Search) -> dict[str, Any]:
    """What is asked of the rows of entries."""
    return {
        "pattern": pattern_of(search.names),
        "timed": search.period is not None,
        "worded": search.vector is not None,
    }


def pattern_of(names: Collection[str]) -> str | None:
    """A pattern of Postgres for texts in which one of the names is a word."""
    if not names:
        return None
    words = "|".join(
        r"\s+".join(
            "".join(f"\\{c}" if not c.isalnum() else c for c in part) for part in name.split()
        )
        for name in sorted(names)
    )
    return rf"(^|\W)({words})($|\W)"


def candidate(row: Any, search: Search) -> Candidate:
    """What a row says of an entry, as far as the question is concerned."""
    names = search.names
    is_said = bool(names and row.is_turn and row.speaker and _key(row.speaker) in names)
    subjects, aliases = _keys(row.subjects), _keys(row.aliases)
    about = row.names_one or not names.isdisjoint(subjects | aliases)
    concern: Concern = "open"
    if is_said or (about and not row.is_turn):
        concern = "named"
    elif about:
        concern = "mentioned"
    elif names and (row.is_turn or subjects):
        concern = "other"
    return Candidate(
        number=row.number,
        entry_id=row.id,
        at=row.at,
        session_id=row.session_id,
        is_turn=row.is_turn,
        asks=row.asks,
        names_time=row.names_time,
        times=_times(row.times) if row.times else (),
        concern=concern,
        is_said=is_said,
        is_tagged=not search.tags.isdisjoint(_keys(row.tags) | aliases),
        importance=row.importance,
        text=row.beginning,
    )


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
