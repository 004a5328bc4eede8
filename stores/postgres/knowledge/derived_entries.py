"""Derived entries in Postgres: those of facts, episodes and archived entries follow each change in its transaction.

So do edges, and which messages are superseded.

What changes is written in many places, and every one of them only says which facts, episodes and messages it touched.
What follows is worked out once, at the end of the transaction.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from pydantic import AwareDatetime, TypeAdapter
from pydantic_core import from_json

from mnestic.memory.knowledge.derived_entries import (
    entry_of_episode,
    entry_of_fact,
    entry_of_sources,
)
from mnestic.memory.knowledge.entries import Entry
from mnestic.memory.knowledge.facts import Fact
from mnestic.memory.knowledge.importance import ImportanceBasis, stored_policy
from mnestic.stores.postgres.knowledge.entry_index import EntryIndex
from mnestic.stores.postgres.queries import Query, read_query
from mnestic.stores.postgres.stored import read_stored
from mnestic.stores.postgres.unit_of_work import UnitOfWork

_AT = TypeAdapter(AwareDatetime)
_BATCH = 1000  # derived entries written at once, with their vectors
_FIND, _CLEAR_PERIODS = read_query("find_derived_entries"), read_query("clear_summaries")
_SUPERSEDE = read_query("supersede_entries")
REFRESH_GRAPH = read_query("refresh_graph")
_CLEAR_SUMMARIES = read_query("categories.clear")
ADD_CORPUS, LOCK_CORPUS = read_query("corpus.add"), read_query("corpus.lock")


class MessagePlace(NamedTuple):
    """Where a message stands: its session, its id there and its time."""

    session_id: str | None
    source_id: str | None
    at: datetime


class DerivedEntries:
    """The derived entries of one transaction, the edges of its facts, and summaries that no longer hold: of categories, and by time."""

    def __init__(self, unit: UnitOfWork, index: EntryIndex) -> None:
        self._unit, self._index = unit, index
        self._facts: set[str] = set()
        self._categories: set[str] = set()
        self._episodes: set[str] = set()
        self._compressed: set[str] = set()
        self._places: set[MessagePlace] = set()
        self._claims: set[str] = set()
        self._gone: set[tuple[str, datetime]] = set()
        self._unfounded: set[str] = set()
        self._corrected: set[str] = set()

    def touch_facts(self, fact_ids: Iterable[str], *, categories: Iterable[str]) -> None:
        """Facts of some categories were written or are gone."""
        self._facts.update(fact_ids)
        if not self._unit.audience:  # summaries are made of what everybody may read
            self._categories.update(categories)
        self._follow()

    def touch_episodes(self, episode_ids: Iterable[str]) -> None:
        """Episodes were written or are gone."""
        self._episodes.update(episode_ids)
        self._follow()

    def touch_compressed(self, entry_ids: Iterable[str]) -> None:
        """Entries that were compressed into these were archived, restored, changed, or are gone."""
        self._compressed.update(entry_ids)
        self._follow()

    def touch_messages(self, rows: Iterable[Any]) -> None:
        """Entries of messages with claims have come or gone; a row has `session_id`, `source_id` and the time `at`."""
        self._places.update(
            MessagePlace(row.session_id, row.source_id, row.at)
            for row in rows
            if row.session_id and row.source_id
        )
        self._follow()

    def touch_claims(self, claim_ids: Iterable[str]) -> None:
        """Claims of messages were made, or hold for another time than before."""
        self._claims.update(claim_ids)
        self._follow()

    def clear_summaries_of(self, rows: Iterable[Any]) -> None:
        """Messages are gone, or not what they were; a row has the `session_id`, the time `at` and the `audience`."""
        self._gone.update((row.session_id or "", row.at) for row in rows if not row.audience)
        self._follow()

    def clear_summaries_with(self, claim_ids: Iterable[str]) -> None:
        """Claims hold no longer, so that no summary may be made of the messages that state them."""
        self._unfounded.update(claim_ids)
        self._follow()

    def touch_corrected(self, entry_ids: Iterable[str]) -> None:
        """Entries may be corrected by another now, or may not be any more: so no summary may be made of them, or one may."""
        self._corrected.update(entry_ids)
        self._follow()

    def _follow(self) -> None:
        if self._is_touched or self._is_clearing:
            self._unit.before_commit(self.synchronise)

    @property
    def _is_touched(self) -> bool:
        return bool(
            self._facts or self._episodes or self._compressed or self._places or self._claims
        )

    @property
    def _is_clearing(self) -> bool:
        return bool(self._gone or self._unfounded or self._corrected)

    async def synchronise(self) -> None:
        """Gives what was touched the derived entries that it should have, and takes away the others."""
        places = sorted(self._places)
        asked = {
            **self._unit.owner,
            "facts": sorted(self._facts),
            "categories": sorted(self._categories),
            "episodes": sorted(self._episodes),
            "compressed": sorted(self._compressed),
            "sessions": [place.session_id for place in places],
            "sources": [place.source_id for place in places],
            "times": [place.at for place in places],
            "claims": sorted(self._claims),
            "entries": sorted(self._corrected),
        }
        clearing = [self._cleared_periods()] if self._is_clearing else []
        edges = [REFRESH_GRAPH.bind(asked)] if self._facts else []
        self._facts, self._episodes, self._places, self._claims = set(), set(), set(), set()
        self._categories, self._compressed = set(), set()
        self._gone, self._unfounded, self._corrected = set(), set(), set()
        *_, refreshed, superseded, rows = await self._unit.rows_of(
            ADD_CORPUS.bind(asked),
            LOCK_CORPUS.bind(asked),
            _CLEAR_SUMMARIES.bind(asked),
            *clearing,
            *edges,
            _SUPERSEDE.bind(asked),
            _FIND.bind(asked),
        )
        if edges and refreshed[0].changed:
            self._unit.changed_graph()
        if superseded:
            self._unit.changed()
        for start in range(0, len(rows), _BATCH):
            await self._index_changed(rows[start : start + _BATCH])

    async def _index_changed(self, rows: Sequence[Any]) -> None:
        """Writes the derived entries that are not as they should be."""
        wanted = [(row, _entry(row)) for row in rows]
        changed = [(row, entry) for row, entry in wanted if not _is_as_stored(row, entry)]
        gone = [row.number for row, _ in changed if row.number is not None]
        if gone:
            await self._index.remove(gone)
        new = [(row.audience, entry) for row, entry in changed if entry is not None]
        for audience in sorted({audience for audience, _ in new}):
            with self._unit.within(audience):
                await self._index.add([entry for its, entry in new if its == audience])
        if changed:
            self._unit.changed()

    def _cleared_periods(self) -> Query:
        gone = sorted(self._gone)
        return _CLEAR_PERIODS.bind(
            {
                **self._unit.owner,
                "sessions": [session_id for session_id, _ in gone],
                "moments": [at for _, at in gone],
                "claims": sorted(self._unfounded),
                "entries": sorted(self._corrected),
            }
        )


def _entry(row: Any) -> Entry | None:
    """The entry that there should be; `origin` is the row of its fact or episode, or its sources, unless it should be gone."""
    if row.origin is None:
        return None
    basis = ImportanceBasis(row.now, stored_policy(row.importance_policy))
    if row.kind == "fact":
        return entry_of_fact(Fact.model_validate_json(row.origin), basis=basis)
    origin = from_json(row.origin)
    if row.kind == "compressed":
        sources = [read_stored(Entry, one, what=f"source of entry {row.id}") for one in origin]
        return entry_of_sources(row.id, sources, basis=basis)
    at = _AT.validate_python(origin["created_at"])
    return entry_of_episode(
        row.id, origin["summary"], session_id=origin["session_id"], at=at, basis=basis
    )


def _is_as_stored(row: Any, entry: Entry | None) -> bool:
    if entry is None or row.number is None:
        return entry is None and row.number is None
    stored = (row.content, row.at, row.expires_at)
    names = [tuple(from_json(names)) for names in (row.subjects, row.tags, row.aliases)]
    return (entry.content, entry.at, entry.expires_at) == stored and [
        *(entry.subjects, entry.tags, entry.aliases)
    ] == names
