"""The archive of entries in Postgres: a row moves between it and the indexes in one transaction."""

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import Row, delete, func, select, tuple_

from mnestic.memory.knowledge.entries import ArchivedEntry, ArchiveMark, ArchiveReason, Entry
from mnestic.memory.knowledge.entry_features import features_of
from mnestic.memory.knowledge.events import EventKind, entry_event
from mnestic.stores.postgres.bulk import packed, update_rows
from mnestic.stores.postgres.cursors import check_limit, decode_time_cursor, encode_cursor
from mnestic.stores.postgres.knowledge.derived_entries import (
    ADD_CORPUS,
    LOCK_CORPUS,
    DerivedEntries,
)
from mnestic.stores.postgres.knowledge.entries import check_is_message, corrected_by
from mnestic.stores.postgres.knowledge.entry_index import ENTRY, EntryIndex
from mnestic.stores.postgres.knowledge.tables import ArchivedEntryRow
from mnestic.stores.postgres.queries import read_query
from mnestic.stores.postgres.stored import read_stored
from mnestic.stores.postgres.tables import INSTANT, table
from mnestic.stores.postgres.unit_of_work import UnitOfWork

ARCHIVED = table(ArchivedEntryRow)
_ADD, _RESTORE = read_query("archive_entries"), read_query("restore_entries")
_REWRITE = update_rows(ARCHIVED, "entry", "models", "vectors", key=["id"])
_BATCH = 1000  # entries of one statement
# Entries archived by one statement: each counts lexemes anew, and in one transaction a row that is written again and again
# leaves versions that every later write looks through.
_ARCHIVED_BATCH = 10_000
_AT = ARCHIVED.c.entry["at"].astext.cast(INSTANT).label("at")
_PLACE = (
    *(ENTRY.c.id, ENTRY.c.kind, ENTRY.c.number),
    *(ENTRY.c.session_id, ENTRY.c.source_id, ENTRY.c.at),
    *(ENTRY.c.entry_type, ENTRY.c.parent, ENTRY.c.related, ENTRY.c.replaces),
)


class PostgresArchiveStore:
    """Implements `mnestic.memory.knowledge.ports.ArchiveStore`."""

    def __init__(self, unit: UnitOfWork, index: EntryIndex, derived: DerivedEntries) -> None:
        self._unit, self._index, self._derived = unit, index, derived

    async def add(self, entry_ids: Sequence[str], mark: ArchiveMark) -> int:
        """See the port."""
        batches = _batches(sorted(entry_ids), _ARCHIVED_BATCH)
        return sum([await self._add(batch, mark) for batch in batches])

    async def _add(self, entry_ids: Sequence[str], mark: ArchiveMark) -> int:
        found = select(*_PLACE).where(self._unit.owned(ENTRY), ENTRY.c.id.in_(entry_ids))
        rows = await self._unit.rows(found.order_by(ENTRY.c.id).with_for_update())
        for row in rows:
            check_is_message(row)
        if not rows:
            return 0
        numbers = [row.number for row in rows]
        await self._lock()
        values = {**self._unit.owner, **mark.model_dump(), "numbers": numbers}
        await self._unit.rows_of(_ADD.bind(values))
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
            values = {**self._unit.owner, "ids": sorted(entries)}
            (rows,) = await self._unit.rows_of(_RESTORE.bind(values))
            await self._index.enter([*entries.values()], {row.id: row.number for row in rows})
            self._derived.touch_messages(rows)
            self._derived.touch_corrected([*entries, *corrected_by(entries.values())])
            self._moved("restore", sorted(entries))
            restored += sorted(entries)
        return tuple(restored)

    async def select(self, entry_ids: Collection[str], *, lock: bool = False) -> dict[str, Entry]:
        """See the port."""
        found = select(ARCHIVED.c.id, ARCHIVED.c.entry).where(self._among(entry_ids))
        found = found.order_by(ARCHIVED.c.id)
        rows = await self._unit.rows(found.with_for_update() if lock else found)
        return {row.id: _entry(row) for row in rows}

    async def select_merged(self, entry_ids: Collection[str]) -> tuple[str, ...]:
        """See the port."""
        found = select(ARCHIVED.c.id).where(
            self._unit.owned(ARCHIVED), ARCHIVED.c.merged_into.in_(sorted(entry_ids))
        )
        return tuple(row.id for row in await self._unit.rows(found.order_by(ARCHIVED.c.id)))

    async def select_marks(self, entry_ids: Collection[str]) -> dict[str, ArchiveMark]:
        """See the port."""
        columns = (ARCHIVED.c.archived_at, ARCHIVED.c.reason, ARCHIVED.c.run)
        rows = await self._unit.rows(select(ARCHIVED.c.id, *columns).where(self._among(entry_ids)))
        return {row.id: _mark(row) for row in rows}

    async def list_archived(
        self, *, limit: int = 100, cursor: str | None = None
    ) -> tuple[tuple[ArchivedEntry, ...], str | None]:
        """See the port."""
        order = (ARCHIVED.c.archived_at, ARCHIVED.c.id)
        columns = (*order, ARCHIVED.c.reason, ARCHIVED.c.run, ARCHIVED.c.entry)
        found = select(*columns).where(self._unit.owned(ARCHIVED))
        if cursor is not None:
            found = found.where(tuple_(*order) < decode_time_cursor(cursor))
        found = found.order_by(*(column.desc() for column in order))
        rows = await self._unit.rows(found.limit(check_limit(limit) + 1))
        self._unit.read("archive.list", "*")
        page = tuple(ArchivedEntry(mark=_mark(row), entry=_entry(row)) for row in rows[:limit])
        if len(rows) <= limit:
            return page, None
        return page, encode_cursor(page[-1].mark.archived_at.isoformat(), page[-1].entry.id)

    async def list_ids(self, prefix: str, *, limit: int) -> tuple[str, ...]:
        """See the port."""
        found = select(ARCHIVED.c.id).where(
            self._unit.owned(ARCHIVED), func.starts_with(ARCHIVED.c.id, prefix)
        )
        rows = await self._unit.rows(found.order_by(ARCHIVED.c.id).limit(check_limit(limit)))
        return tuple(row.id for row in rows)

    async def count(self) -> dict[ArchiveReason, int]:
        """See the port."""
        found = select(ARCHIVED.c.reason, func.count().label("number"))
        found = found.where(self._unit.owned(ARCHIVED)).group_by(ARCHIVED.c.reason)
        return {row.reason: row.number for row in await self._unit.rows(found)}

    async def change(self, entries: Sequence[Entry]) -> None:
        """See the port."""
        if not entries:
            return
        ids = [entry.id for entry in entries]
        found = select(ARCHIVED.c.id, ARCHIVED.c.entry).where(self._among(ids))
        before = {row.id: row.entry for row in await self._unit.rows(found)}
        rows = [
            {"id": entry.id, "entry": {**before[entry.id], **_columns(entry)}}
            for entry in entries
            if entry.id in before
        ]
        vectors: dict[str, Any] = {"models": [], "vectors": []}
        written = packed(self._unit.owner, [row | vectors for row in rows], what="archived entries")
        await self._unit.run(_REWRITE, written)
        self._derived.touch_corrected(ids)
        await self._touch_compressed(ids)
        self._unit.wrote("archive.change", f"{len(rows)} entries")

    async def remove(self, entry_ids: Collection[str]) -> int:
        """See the port."""
        removed = 0
        for batch in _batches(sorted(entry_ids)):
            await self._touch_compressed(batch)
            gone = delete(ARCHIVED).where(self._among(batch)).returning(ARCHIVED.c.session_id, _AT)
            rows = await self._unit.rows(gone)
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
        found = select(ARCHIVED.c.merged_into).distinct()
        found = found.where(self._among(entry_ids), ARCHIVED.c.reason == "compressed")
        rows = await self._unit.rows(found.where(ARCHIVED.c.merged_into.is_not(None)))
        if rows:
            self._derived.touch_compressed(row.merged_into for row in rows)

    def _moved(self, action: str, entry_ids: Sequence[str]) -> None:
        name = entry_ids[0] if len(entry_ids) == 1 else f"{len(entry_ids)} entries"
        self._unit.wrote(f"entry.{action}", name)
        kind: EventKind = "memory.archived" if action == "archive" else "memory.restored"
        self._unit.publish(entry_event(kind, entry_ids))

    def _among(self, entry_ids: Collection[str]) -> Any:
        return self._unit.owned(ARCHIVED) & ARCHIVED.c.id.in_(sorted(entry_ids))


def _batches(entry_ids: Sequence[str], size: int = _BATCH) -> list[Sequence[str]]:
    return [entry_ids[start : start + size] for start in range(0, len(entry_ids), size)]


def _columns(entry: Entry) -> dict[str, Any]:
    """What is stored of an entry that was cut; its tokens are those of other words."""
    columns = entry.model_dump(mode="json", exclude={"created_at", "updated_at"})
    return {**columns, "features": features_of(entry.content, entry.times), "tokens": None}


def _entry(row: Row[Any]) -> Entry:
    return read_stored(Entry, row.entry, what=f"archived entry {row.id}")


def _mark(row: Row[Any]) -> ArchiveMark:
    columns = {name: getattr(row, name) for name in ArchiveMark.model_fields}
    return read_stored(ArchiveMark, columns, what=f"archived entry {row.id}")
