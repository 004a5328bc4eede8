"""Entries in Postgres, and the indexes that follow each of their changes in the same transaction."""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Row, func, literal, or_, select, text, tuple_, union

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
from mnestic.memory.knowledge.predicates import NAMING
from mnestic.memory.knowledge.subjects import is_described
from mnestic.stores.postgres.cursors import check_limit, decode_time_cursor, encode_cursor
from mnestic.stores.postgres.knowledge.derived_entries import DerivedEntries
from mnestic.stores.postgres.knowledge.entry_index import ENTRY, RELATED, TERM, EntryIndex
from mnestic.stores.postgres.knowledge.tables import FactRow, SupersessionRow
from mnestic.stores.postgres.queries import read_query
from mnestic.stores.postgres.stored import read_stored
from mnestic.stores.postgres.tables import table
from mnestic.stores.postgres.unit_of_work import UnitOfWork

FACT, SUPERSESSION = table(FactRow), table(SupersessionRow)
_COUNT = read_query("count_entries")

# The subjects whose first word is a name, and whether somebody of just that name has spoken.
_BEARERS = text("""
WITH subject AS MATERIALIZED (
    SELECT DISTINCT term FROM mnestic.entry_term
     WHERE tenant_id = :tenant_id AND agent_id = :agent_id AND kind = 'subject' AND term LIKE '% %')
SELECT n.name,
       (SELECT array_agg(s.term) FROM subject AS s
         WHERE left(s.term, length(n.name) + 1) = n.name || ' ') AS subjects,
       EXISTS (SELECT FROM mnestic.entry_term AS t
                 JOIN mnestic.entry AS e ON e.tenant_id = t.tenant_id AND e.agent_id = t.agent_id
                  AND e.number = t.entry_number
                WHERE t.tenant_id = :tenant_id AND t.agent_id = :agent_id AND t.kind = 'subject'
                  AND t.term = n.name AND e.kind = 'message' AND lower(e.speaker) = n.name) AS speaks
  FROM unnest(CAST(:names AS text[])) AS n (name)
""")
_TABLE_BYTES = text("""
SELECT name, pg_total_relation_size('mnestic.' || name) AS bytes
  FROM unnest(ARRAY['resource', 'ingest_state', 'entry', 'entry_term', 'posting', 'lexeme', 'embedding',
                    'claim', 'fact']) AS name
""")


class PostgresEntryStore:
    """Implements `mnestic.memory.ports.EntryStore`."""

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
        for entry in added:
            self._unit.wrote("entry.add", entry.id)
        if added:
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
        found = select(ENTRY.c.id).where(
            self._unit.owned(ENTRY), func.starts_with(ENTRY.c.id, prefix)
        )
        rows = await self._unit.rows(found.order_by(ENTRY.c.id).limit(check_limit(limit)))
        return tuple(row.id for row in rows)

    async def select(self, entry_ids: Sequence[str], *, lock: bool = False) -> dict[str, Entry]:
        """See the port."""
        return {row.id: entry_of_row(row) for row in await self._stored(entry_ids, lock=lock)}

    async def find_supersession(self, entry_id: str) -> Supersession | None:
        """See the port."""
        columns = (SUPERSESSION.c.at, SUPERSESSION.c.by, SUPERSESSION.c.why)
        found = select(*columns).where(
            self._unit.owned(SUPERSESSION), SUPERSESSION.c.entry_id == entry_id
        )
        row = await self._unit.row(found)
        what = f"supersession of entry {entry_id}"
        return None if row is None else read_stored(Supersession, row._asdict(), what=what)

    async def count_children(self, entry_ids: Collection[str]) -> dict[str, int]:
        """See the port."""
        counted = dict.fromkeys(entry_ids, 0)
        if counted:
            found = select(ENTRY.c.parent, func.count().label("number")).where(
                self._unit.owned(ENTRY), ENTRY.c.parent.in_(sorted(counted))
            )
            rows = await self._unit.rows(found.group_by(ENTRY.c.parent))
            counted |= {row.parent: row.number for row in rows}
        return counted

    async def select_times(self, entry_ids: Collection[str]) -> dict[str, datetime]:
        """See the port."""
        if not entry_ids:
            return {}
        found = select(ENTRY.c.id, ENTRY.c.at).where(
            self._unit.owned(ENTRY), ENTRY.c.id.in_(sorted(entry_ids))
        )
        return {row.id: row.at for row in await self._unit.rows(found)}

    async def list_entries(
        self, query: EntryQuery, *, limit: int = 100, cursor: str | None = None
    ) -> tuple[tuple[Entry, ...], str | None]:
        """See the port."""
        found = select(*ENTRY.c).where(
            self._unit.owned(ENTRY), ENTRY.c.status.in_(query.statuses), *_conditions(query)
        )
        if query.subject is not None:
            found = found.where(ENTRY.c.number.in_(self._numbers_about(query.subject)))
        if query.tags:
            found = found.where(ENTRY.c.number.in_(self._numbers_tagged(query.tags)))
        if query.related is not None:
            found = found.where(ENTRY.c.number.in_(self._numbers_related(query.related)))
        if cursor is not None:
            found = found.where(tuple_(ENTRY.c.at, ENTRY.c.id) < decode_time_cursor(cursor))
        found = found.order_by(ENTRY.c.at.desc(), ENTRY.c.id.desc())
        rows = await self._unit.rows(found.limit(check_limit(limit) + 1))
        self._unit.read("entry.list", query.session_id or "*")
        entries = tuple(entry_of_row(row) for row in rows[:limit])
        if len(rows) <= limit:
            return entries, None
        return entries, encode_cursor(entries[-1].at.isoformat(), entries[-1].id)

    async def select_naming(self, entry_ids: Collection[str]) -> tuple[str, ...]:
        """See the port."""
        ids = sorted(entry_ids)
        related = select(TERM.c.entry_number).where(
            self._unit.owned(TERM), TERM.c.kind == RELATED, TERM.c.term.in_(ids)
        )
        is_named = or_(ENTRY.c.parent.in_(ids), ENTRY.c.number.in_(related))
        found = select(ENTRY.c.id).where(self._unit.owned(ENTRY), is_named).order_by(ENTRY.c.id)
        return tuple(row.id for row in await self._unit.rows(found))

    async def list_bearers(self, names: Collection[str]) -> NameBearers:
        """See the port."""
        rows = await self._unit.rows(_BEARERS, {**self._unit.owner, "names": sorted(names)})
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
        ((counted,),) = await self._unit.rows_of(_COUNT.bind(self._unit.owner))
        tables = await self._unit.rows(_TABLE_BYTES)
        self._unit.read("entry.count", "*")
        bytes_of = {row.name: row.bytes for row in tables}
        return EntryStatistics(**counted._asdict(), table_bytes=bytes_of)

    async def find_active_model(self) -> str | None:
        """See the port."""
        return await self._vectors.active_model()

    async def list_unembedded(self, model: str, *, limit: int) -> tuple[Unembedded, ...]:
        """See the port."""
        rows = await self._vectors.missing(model, limit=check_limit(limit))
        return tuple(Unembedded(**row._mapping) for row in rows)  # noqa: SLF001

    async def list_zero_vectors(self, model: str, *, limit: int) -> tuple[Unembedded, ...]:
        """See the port."""
        rows = await self._vectors.zero(model, limit=check_limit(limit))
        return tuple(Unembedded(**row._mapping) for row in rows)  # noqa: SLF001

    async def embed(self, model: str, embeddings: Sequence[Embedding]) -> int:
        """See the port."""
        by_id = {embedding.entry_id: embedding for embedding in embeddings}
        found = select(ENTRY.c.id, ENTRY.c.number, ENTRY.c.content).where(
            self._unit.owned(ENTRY), ENTRY.c.id.in_(list(by_id))
        )
        rows = await self._unit.rows(found.order_by(ENTRY.c.id).with_for_update())
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

    async def _stored(self, entry_ids: Sequence[str], *, lock: bool) -> Sequence[Row[Any]]:
        found = select(*ENTRY.c).where(self._unit.owned(ENTRY), ENTRY.c.id.in_(entry_ids))
        found = found.order_by(ENTRY.c.id)
        return await self._unit.rows(found.with_for_update() if lock else found)

    def _numbers_about(self, name: str) -> Any:
        """Entries about whom this names: as subject, as alias, or by what is believed to be a name.

        Whose name it is is found by their own name as well, and by each that they are called.
        """
        key = name_key(name)
        names = self._unit.owned(FACT) & FACT.c.predicate.in_(NAMING) & (FACT.c.status == "active")
        whose = union(
            select(literal(key)), select(FACT.c.subject_key).where(names, FACT.c.object_key == key)
        )
        called = union(whose, select(FACT.c.object_key).where(names, FACT.c.subject_key.in_(whose)))
        numbers = select(TERM.c.entry_number).where(self._unit.owned(TERM))
        return union(
            numbers.where(TERM.c.kind.in_(("subject", "alias")), TERM.c.term == key),
            numbers.where(TERM.c.kind == "subject", TERM.c.term.in_(called)),
        )

    def _numbers_tagged(self, tags: Sequence[str]) -> Any:
        """Entries with one of these tags."""
        keys = [name_key(tag) for tag in tags]
        return select(TERM.c.entry_number).where(
            self._unit.owned(TERM), TERM.c.kind == "tag", TERM.c.term.in_(keys)
        )

    def _numbers_related(self, entry_id: str) -> Any:
        """Entries that are related to another."""
        owned = self._unit.owned(TERM)
        return select(TERM.c.entry_number).where(
            owned, TERM.c.kind == RELATED, TERM.c.term == entry_id
        )


def corrected_by(entries: Iterable[Entry | Row[Any]]) -> list[str]:
    """The ids of entries that some replace, or that the corrections among them may name as what they correct."""
    found = list(entries)
    corrections = [entry for entry in found if entry.entry_type == "correction"]
    named = [name for one in corrections for name in (one.parent, *one.related[:1]) if name]
    return named + [name for entry in found for name, _ in entry.replaces]


def _is_otherwise(entry: Entry, row: Row[Any]) -> bool:
    """Whether a summary that was made of an entry may say what it does not say any more."""
    own = (entry.content, entry.speaker, entry.status, entry.expires_at, entry.session_id, entry.at)
    return own != (row.content, row.speaker, row.status, row.expires_at, row.session_id, row.at)


_INSTEAD = {
    "fact": "a fact: add the right one, or delete it (`memory facts add`, `memory facts delete`)",
    "episode": "an episode: to take something out of it, forget it (`memory forget`)",
    "compressed": "archived entries: restore one to take it out (`memory restore`), or forget it (`memory forget`)",
}


def check_is_message(row: Row[Any]) -> None:
    """Refuses to write an entry that follows from something else.

    Raises:
        InvalidInputError: says what to change instead.
    """
    if row.kind in _INSTEAD:
        why = f"cannot be changed or removed by itself, since it follows from {_INSTEAD[row.kind]}"
        raise InvalidInputError(what=f"entry {row.id}", why=why)


def _conditions(query: EntryQuery) -> list[Any]:
    """What a query asks of the columns."""
    parameters = [
        (ENTRY.c.kind.in_, query.kinds or None),
        (ENTRY.c.entry_type.in_, query.entry_types or None),
        (ENTRY.c.session_id.__eq__, query.session_id),
        (ENTRY.c.channel.__eq__, query.channel),
        (func.lower(ENTRY.c.speaker).__eq__, query.speaker and func.lower(query.speaker)),
        (ENTRY.c.parent.__eq__, query.parent),
        (ENTRY.c.at.__ge__, query.since),
        (ENTRY.c.at.__lt__, query.until),
    ]
    conditions = [condition(value) for condition, value in parameters if value is not None]
    if not query.expired:
        conditions.append(or_(ENTRY.c.expires_at.is_(None), ENTRY.c.expires_at > func.now()))
    return conditions


def entry_of_row(row: Row[Any]) -> Entry:
    """A row's entry."""
    return read_stored(Entry, dict(row._mapping), what=f"entry {row.id}")  # noqa: SLF001
