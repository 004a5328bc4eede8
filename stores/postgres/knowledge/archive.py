"""The archive of entries in Postgres: a row moves between it and the indexes in one transaction."""

from collections.abc import Collection, Sequence
from typing import Any

from mnestic.memory.knowledge.entries import ArchivedEntry, ArchiveMark, ArchiveReason, Entry
from mnestic.memory.knowledge.entry_features import features_of
from mnestic.memory.knowledge.events import EventKind, entry_event
from mnestic.stores.postgres.cursors import check_limit, decode_time_cursor, encode_cursor
from mnestic.stores.postgres.knowledge.derived_entries import (
    ADD_CORPUS,
    LOCK_CORPUS,
    DerivedEntries,
)
from mnestic.stores.postgres.knowledge.entries import check_is_message, corrected_by
from mnestic.stores.postgres.knowledge.entry_index import EntryIndex
from mnestic.stores.postgres.queries import packed, read_query
from mnestic.stores.postgres.stored import read_stored
from mnestic.stores.postgres.unit_of_work import UnitOfWork

_ADD, _RESTORE = read_query("archive_entries"), read_query("restore_entries")
_LOCK_ENTRIES = read_query("archive.lock_entries")
_SELECT, _SELECT_MERGED = read_query("archive.select"), read_query("archive.select_merged")
_SELECT_MARKS, _LIST = read_query("archive.select_marks"), read_query("archive.list")
_LIST_IDS, _COUNT = read_query("archive.list_ids"), read_query("archive.count")
_CHANGE, _REMOVE = read_query("archive.change"), read_query("archive.remove")
_LIST_COMPRESSIONS = read_query("archive.list_compressions")
_BATCH = 1000  # entries of one statement
# Entries archived by one statement: each counts lexemes anew, and in one transaction a row that is written again and again
# leaves versions that every later write looks through.
_ARCHIVED_BATCH = 10_000


class PostgresArchiveStore:
    """Implements `mnestic.memory.knowledge.ports.ArchiveStore`."""

    def __init__(self, unit: UnitOfWork, index: EntryIndex, derived: DerivedEntries) -> None:
        self._unit, self._index, self._derived = unit, index, derived

    async def add(self, entry_ids: Sequence[str], mark: ArchiveMark) -> int:
        """See the port."""
        batches = _batches(sorted(entry_ids), _ARCHIVED_BATCH)
        return sum([await self._add(batch, mark) for batch in batches])

    async def _add(self, entry_ids: Sequence[str], mark: ArchiveMark) -> int:
        rows = await self._unit.fetch(_LOCK_ENTRIES, ids=[*entry_ids])
        for row in rows:
            check_is_message(row)
        if not rows:
            return 0
        numbers = [row.number for row in rows]
        await self._lock()
        await self._unit.write(_ADD, **mark.model_dump(), numbers=numbers)
        await self._index.remove(numbers)
        self._derived.touch_messages(rows)
        self._derived.touch_corrected(corrected_by(rows))
        if mark.reason == "by_hand":
            self._derived.clear_summaries_of(rows)
        await self._touch_compressed([row.id for row in rows])
        self._moved("archive", [row.id for row in rows])
        return len(rows)

    async def restore(self, entry_ids: Sequence[str]) -> tuple[str, ...]:
        """See the port."""
        restored: list[str] = []
        for batch in _batches(sorted(entry_ids)):
            entries = await self.select(batch, lock=True)
            if not entries:
                continue
            await self._lock()
            await self._touch_compressed(sorted(entries))
            rows = await self._unit.fetch(_RESTORE, ids=sorted(entries))
            await self._index.enter([*entries.values()], {row.id: row.number for row in rows})
            self._derived.touch_messages(rows)
            self._derived.touch_corrected([*entries, *corrected_by(entries.values())])
            self._moved("restore", sorted(entries))
            restored += sorted(entries)
        return tuple(restored)

    async def select(self, entry_ids: Collection[str], *, lock: bool = False) -> dict[str, Entry]:
        """See the port."""
        rows = await self._unit.fetch(_SELECT, ids=sorted(entry_ids), lock=lock or None)
        return {row.id: _entry(row) for row in rows}

    async def select_merged(self, entry_ids: Collection[str]) -> tuple[str, ...]:
        """See the port."""
        rows = await self._unit.fetch(_SELECT_MERGED, ids=sorted(entry_ids))
        return tuple(row.id for row in rows)

    async def select_marks(self, entry_ids: Collection[str]) -> dict[str, ArchiveMark]:
        """See the port."""
        rows = await self._unit.fetch(_SELECT_MARKS, ids=sorted(entry_ids))
        return {row.id: _mark(row) for row in rows}

    async def list_archived(
        self, *, limit: int = 100, cursor: str | None = None
    ) -> tuple[tuple[ArchivedEntry, ...], str | None]:
        """See the port."""
        before, before_id = decode_time_cursor(cursor) if cursor is not None else (None, None)
        rows = await self._unit.fetch(
            _LIST, before=before, before_id=before_id, limit=check_limit(limit) + 1
        )
        self._unit.read("archive.list", "*")
        page = tuple(ArchivedEntry(mark=_mark(row), entry=_entry(row)) for row in rows[:limit])
        if len(rows) <= limit:
            return page, None
        return page, encode_cursor(page[-1].mark.archived_at.isoformat(), page[-1].entry.id)

    async def list_ids(self, prefix: str, *, limit: int) -> tuple[str, ...]:
        """See the port."""
        rows = await self._unit.fetch(_LIST_IDS, prefix=prefix, limit=check_limit(limit))
        return tuple(row.id for row in rows)

    async def count(self) -> dict[ArchiveReason, int]:
        """See the port."""
        return {row.reason: row.number for row in await self._unit.fetch(_COUNT)}

    async def change(self, entries: Sequence[Entry]) -> None:
        """See the port."""
        if not entries:
            return
        ids = [entry.id for entry in entries]
        stored = await self._unit.fetch(_SELECT, ids=ids, lock=None)
        before = {row.id: row.entry for row in stored}
        rows = [
            {"id": entry.id, "entry": {**before[entry.id], **_columns(entry)}}
            for entry in entries
            if entry.id in before
        ]
        await self._unit.write(_CHANGE, **packed({}, rows, what="archived entries"))
        self._derived.touch_corrected(ids)
        await self._touch_compressed(ids)
        self._unit.wrote("archive.change", f"{len(rows)} entries")

    async def remove(self, entry_ids: Collection[str]) -> int:
        """See the port."""
        removed = 0
        for batch in _batches(sorted(entry_ids)):
            await self._touch_compressed(batch)
            rows = await self._unit.fetch(_REMOVE, ids=[*batch])
            self._derived.clear_summaries_of(rows)
            self._derived.touch_corrected(batch)
            removed += len(rows)
        if removed:
            self._unit.wrote("archive.remove", f"{removed} entries")
        return removed

    async def _lock(self) -> None:
        """Locks the agent's indexes, which their other writers lock first too."""
        owner = self._unit.owner
        await self._unit.rows_of(ADD_CORPUS.bind(owner), LOCK_CORPUS.bind(owner))

    async def _touch_compressed(self, entry_ids: Collection[str]) -> None:
        """Has the entries follow that archived ones of these ids were compressed into."""
        rows = await self._unit.fetch(_LIST_COMPRESSIONS, ids=sorted(entry_ids))
        if rows:
            self._derived.touch_compressed(row.merged_into for row in rows)

    def _moved(self, action: str, entry_ids: Sequence[str]) -> None:
        name = entry_ids[0] if len(entry_ids) == 1 else f"{len(entry_ids)} entries"
        self._unit.wrote(f"entry.{action}", name)
        kind: EventKind = "memory.archived" if action == "archive" else "memory.restored"
        self._unit.publish(entry_event(kind, entry_ids))


def _batches(entry_ids: Sequence[str], size: int = _BATCH) -> list[Sequence[str]]:
    return [entry_ids[start : start + size] for start in range(0, len(entry_ids), size)]


def _columns(entry: Entry) -> dict[str, Any]:
    """What is stored of an entry that was cut; its tokens are those of other words."""
    columns = entry.model_dump(mode="json", exclude={"created_at", "updated_at"})
    return {**columns, "features": features_of(entry.content, entry.times), "tokens": None}


def _entry(row: Any) -> Entry:
    return read_stored(Entry, row.entry, what=f"archived entry {row.id}")


def _mark(row: Any) -> ArchiveMark:
    columns = {name: getattr(row, name) for name in ArchiveMark.model_fields}
    return read_stored(ArchiveMark, columns, what=f"archived entry {row.id}")
