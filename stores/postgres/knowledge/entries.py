"""Entries in Postgres, and the indexes that follow each of their changes in the same transaction."""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Any

from mnestic.memory.errors import InvalidInputError, NotFoundError
from mnestic.memory.knowledge.claims import name_key
from mnestic.memory.knowledge.entries import (
    Embedding,
    Entry,
    EntryQuery,
    EntryStatistics,
    NameBearers,
    Supersession,
    Unembedded,
)
from mnestic.memory.knowledge.events import entry_event
from mnestic.memory.knowledge.subjects import is_described
from mnestic.stores.postgres.cursors import check_limit, decode_time_cursor, encode_cursor
from mnestic.stores.postgres.knowledge.derived_entries import DerivedEntries
from mnestic.stores.postgres.knowledge.entry_index import EntryIndex
from mnestic.stores.postgres.queries import read_query
from mnestic.stores.postgres.stored import read_stored
from mnestic.stores.postgres.unit_of_work import UnitOfWork

_SELECT, _LOCK_CONTENTS = read_query("entries.select"), read_query("entries.lock_contents")
_SELECT_TIMES = read_query("entries.select_times")
_LIST, _LIST_IDS = read_query("entries.list"), read_query("entries.list_ids")
_LIST_NAMING, _LIST_BEARERS = read_query("entries.list_naming"), read_query("entries.list_bearers")
_FIND_SUPERSESSION = read_query("entries.find_supersession")
_COUNT, _COUNT_CHILDREN = read_query("count_entries"), read_query("entries.count_children")
_EQUAL = {"session_id", "channel", "speaker", "parent", "related"}
_MEASURE = read_query("entries.measure")


class PostgresEntryStore:
    """Implements `mnestic.memory.knowledge.ports.EntryStore`."""

    def __init__(self, unit: UnitOfWork, index: EntryIndex, derived: DerivedEntries) -> None:
        self._unit, self._index, self._derived = unit, index, derived
        self._vectors = index.vectors

    async def add(self, entries: Sequence[Entry]) -> tuple[Entry, ...]:
        """See the port."""
        if not entries:
            return ()
        new = await self._index.add(entries)
        by_id = {entry.id: entry for entry in reversed(entries)}  # the first of an id is added
        self._derived.touch_messages(by_id[row.id] for row in new if row.is_claimed)
        self._derived.touch_corrected(corrected_by(by_id[row.id] for row in new))
        added = [
            by_id[row.id].model_copy(
                update={
                    "importance": row.importance,
                    "created_at": row.created_at,
                    "updated_at": row.created_at,
                }
            )
            for row in new
        ]
        if added:  # entries added together have the time of their one row
            target = added[0].id if len(added) == 1 else f"{len(added)} entries"
            self._unit.wrote("entry.add", target)
            self._unit.publish(entry_event("memory.stored", sorted(entry.id for entry in added)))
        return tuple(added)

    async def get(self, entry_id: str) -> Entry:
        """See the port."""
        found = await self.select([entry_id])
        if entry_id not in found:
            raise NotFoundError(what="entry", name=entry_id)
        self._unit.read("entry.get", entry_id)
        return found[entry_id]

    async def list_ids(self, prefix: str, *, limit: int) -> tuple[str, ...]:
        """See the port."""
        rows = await self._unit.fetch(_LIST_IDS, prefix=prefix, limit=check_limit(limit))
        return tuple(row.id for row in rows)

    async def select(self, entry_ids: Sequence[str], *, lock: bool = False) -> dict[str, Entry]:
        """See the port."""
        return {row.id: entry_of_row(row) for row in await self._stored(entry_ids, lock=lock)}

    async def find_supersession(self, entry_id: str) -> Supersession | None:
        """See the port."""
        row = await self._unit.fetch_one(_FIND_SUPERSESSION, id=entry_id)
        what = f"supersession of entry {entry_id}"
        return None if row is None else read_stored(Supersession, row._asdict(), what=what)

    async def count_children(self, entry_ids: Collection[str]) -> dict[str, int]:
        """See the port."""
        counted = dict.fromkeys(entry_ids, 0)
        if counted:
            rows = await self._unit.fetch(_COUNT_CHILDREN, ids=sorted(counted))
            counted |= {row.parent: row.number for row in rows}
        return counted

    async def select_times(self, entry_ids: Collection[str]) -> dict[str, datetime]:
        """See the port."""
        if not entry_ids:
            return {}
        rows = await self._unit.fetch(_SELECT_TIMES, ids=sorted(entry_ids))
        return {row.id: row.at for row in rows}

    async def list_entries(
        self, query: EntryQuery, *, limit: int = 100, cursor: str | None = None
    ) -> tuple[tuple[Entry, ...], str | None]:
        """See the port."""
        before, before_id = decode_time_cursor(cursor) if cursor is not None else (None, None)
        rows = await self._unit.fetch(
            _LIST,
            **query.model_dump(include=_EQUAL | {"min_importance", "max_importance"}),
            statuses=[*query.statuses],
            kinds=[*query.kinds] or None,
            types=[*query.entry_types] or None,
            subject=None if query.subject is None else name_key(query.subject),
            tags=[name_key(tag) for tag in query.tags] or None,
            since=query.since,
            until=query.until,
            unexpired=not query.expired or None,
            before=before,
            before_id=before_id,
            limit=check_limit(limit) + 1,
        )
        self._unit.read("entry.list", query.session_id or "*")
        entries = tuple(entry_of_row(row) for row in rows[:limit])
        if len(rows) <= limit:
            return entries, None
        return entries, encode_cursor(entries[-1].at.isoformat(), entries[-1].id)

    async def select_naming(self, entry_ids: Collection[str]) -> tuple[str, ...]:
        """See the port."""
        rows = await self._unit.fetch(_LIST_NAMING, ids=sorted(entry_ids))
        return tuple(row.id for row in rows)

    async def list_bearers(self, names: Collection[str]) -> NameBearers:
        """See the port."""
        rows = await self._unit.fetch(_LIST_BEARERS, names=sorted(names))
        described: dict[str, frozenset[str]] = {
            row.name: frozenset(
                key for key in row.subjects or () if is_described(key, name=row.name)
            )
            for row in rows
        }
        return NameBearers(described, frozenset(row.name for row in rows if row.speaks))

    async def change(self, entries: Sequence[Entry]) -> None:
        """See the port."""
        if not entries:
            return
        before = {row.id: row for row in await self._stored([e.id for e in entries], lock=True)}
        for entry in entries:
            if entry.id not in before:
                raise NotFoundError(what="entry", name=entry.id)
            check_is_message(before[entry.id])
            self._unit.wrote("entry.change", entry.id)
        await self._index.change(entries, before)
        self._derived.touch_corrected(corrected_by([*entries, *before.values()]))
        self._derived.touch_corrected(
            one.id for one in entries if one.reinstated_at != before[one.id].reinstated_at
        )
        self._derived.touch_messages(
            before[one.id] for one in entries if one.content != before[one.id].content
        )
        self._derived.clear_summaries_of(
            before[one.id] for one in entries if _is_otherwise(one, before[one.id])
        )
        self._unit.changed()
        self._unit.publish(entry_event("memory.changed", sorted(before)))

    async def remove(self, entry_ids: Sequence[str]) -> int:
        """See the port."""
        rows = await self._stored(entry_ids, lock=True)
        if not rows:
            return 0
        for row in rows:
            check_is_message(row)
        await self._index.remove([row.number for row in rows])
        self._derived.touch_messages(rows)
        self._derived.touch_corrected([*(row.id for row in rows), *corrected_by(rows)])
        self._derived.clear_summaries_of(rows)
        for row in rows:
            self._unit.wrote("entry.remove", row.id)
        self._unit.changed()
        self._unit.publish(entry_event("memory.deleted", [row.id for row in rows]))
        return len(rows)

    async def count(self) -> EntryStatistics:
        """See the port."""
        (counted,) = await self._unit.fetch(_COUNT)
        tables = () if self._unit.reader else await self._unit.fetch(_MEASURE)
        self._unit.read("entry.count", "*")
        bytes_of = {row.name: row.bytes for row in tables}
        return EntryStatistics(**counted._asdict(), row_bytes=bytes_of)

    async def find_active_model(self) -> str | None:
        """See the port."""
        return await self._vectors.active_model()

    async def list_unembedded(self, model: str, *, limit: int) -> tuple[Unembedded, ...]:
        """See the port."""
        rows = await self._vectors.missing(model, limit=check_limit(limit))
        return tuple(Unembedded(**row._asdict()) for row in rows)

    async def list_zero_vectors(self, model: str, *, limit: int) -> tuple[Unembedded, ...]:
        """See the port."""
        rows = await self._vectors.zero(model, limit=check_limit(limit))
        return tuple(Unembedded(**row._asdict()) for row in rows)

    async def embed(self, model: str, embeddings: Sequence[Embedding]) -> int:
        """See the port."""
        by_id = {embedding.entry_id: embedding for embedding in embeddings}
        rows = await self._unit.fetch(_LOCK_CONTENTS, ids=[*by_id])
        vectors = {
            row.number: by_id[row.id].vector for row in rows if row.content == by_id[row.id].content
        }
        if not vectors:
            return 0
        stored = await self._vectors.keep(model, vectors)
        self._unit.wrote("entry.embed", f"{model}: {stored}")
        return stored

    async def embed_again(self, entry_ids: Sequence[str]) -> None:
        """See the port."""
        rows = await self._stored(entry_ids, lock=True)
        numbers = [row.number for row in rows]
        await self._vectors.forget(numbers, empty=True)
        self._unit.changed()

    async def _stored(self, entry_ids: Sequence[str], *, lock: bool) -> Sequence[Any]:
        return await self._unit.fetch(_SELECT, ids=[*entry_ids], lock=lock or None)


def corrected_by(entries: Iterable[Any]) -> list[str]:
    """The ids of entries that some replace, or that the corrections among them may name as what they correct."""
    found = list(entries)
    corrections = [entry for entry in found if entry.entry_type == "correction"]
    named = [name for one in corrections for name in (one.parent, *one.related[:1]) if name]
    return named + [name for entry in found for name, _ in entry.replaces]


def _is_otherwise(entry: Entry, row: Any) -> bool:
    """Whether a summary that was made of an entry may say what it does not say any more."""
    own = (entry.content, entry.speaker, entry.status, entry.expires_at, entry.session_id, entry.at)
    return own != (row.content, row.speaker, row.status, row.expires_at, row.session_id, row.at)


_INSTEAD = {
    "fact": "a fact: add the right one, or delete it (`memory facts add`, `memory facts delete`)",
    "episode": "an episode: to take something out of it, forget it (`memory forget`)",
    "compressed": "archived entries: restore one to take it out (`memory restore`), or forget it (`memory forget`)",
}


def check_is_message(row: Any) -> None:
    """Refuses to write an entry that follows from something else.

    Raises:
        InvalidInputError: says what to change instead.
    """
    if row.kind in _INSTEAD:
        why = f"cannot be changed or removed by itself, since it follows from {_INSTEAD[row.kind]}"
        raise InvalidInputError(what=f"entry {row.id}", why=why)


def entry_of_row(row: Any) -> Entry:
    """A row's entry."""
    return read_stored(Entry, row._asdict(), what=f"entry {row.id}")
