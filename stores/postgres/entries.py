"""Entries in Postgres, and the indexes that follow each of their changes in the same transaction."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Row, delete, func, literal, or_, select, text, tuple_, union

from mnestic.memory.claims import name_key
from mnestic.memory.entries import Embedding, Entry, EntryQuery, EntryStatistics, Unembedded
from mnestic.memory.entry_marks import marks_of
from mnestic.memory.errors import NotFoundError
from mnestic.memory.predicates import NAMING
from mnestic.memory.signals import entry_signal
from mnestic.stores.postgres.accesses import add_accesses
from mnestic.stores.postgres.agent_settings import language_of
from mnestic.stores.postgres.bulk import insert_rows, packed, update_rows
from mnestic.stores.postgres.knowledge_tables import EntryRow, EntryTermRow, FactRow
from mnestic.stores.postgres.pages import check_limit, decode_time_cursor, encode_cursor
from mnestic.stores.postgres.stored import read_stored
from mnestic.stores.postgres.tables import table
from mnestic.stores.postgres.unit import Unit
from mnestic.stores.postgres.vectors import Vectors

ENTRY, TERM, FACT = table(EntryRow), table(EntryTermRow), table(FactRow)
_TERMS = {"keyword": "keywords", "tag": "tags", "alias": "aliases", "subject": "subjects"}
_RELATED = "related"  # a term that is no name
_COLUMNS = [
    *(name for name in Entry.model_fields if name not in {"created_at", "updated_at"}),
    *("language", "marks"),
]
_ADD = insert_rows(
    ENTRY, *_COLUMNS, now=["created_at", "updated_at"], returning=["id", "number"], where_new=True
)
_CONTENT = ("content", "language")
_COUNTED = ("access_count", "last_accessed")  # by `count_accesses`, whatever else is written
_CHANGED = [name for name in _COLUMNS if name not in {"id", *_CONTENT, *_COUNTED}]
_CHANGE = update_rows(ENTRY, *_CHANGED, key=["id"], now=["updated_at"])
_REWRITE = update_rows(ENTRY, *_CHANGED, *_CONTENT, key=["id"], now=["updated_at"])
_NAME = insert_rows(TERM, "kind", "term", "entry_number")
_WORDS = """
    SELECT e.number, w.lexeme, least(cardinality(w.positions), 32767) AS frequency, e.lexemes
      FROM mnestic.entry AS e,
           unnest(to_tsvector(CAST(e.language AS regconfig), mnestic.words_apart(e.content))) AS w
     WHERE e.tenant_id = :tenant_id AND e.agent_id = :agent_id AND e.number = ANY(:numbers)
"""
# Lexemes are counted in one order by everybody, so that nobody waits for somebody who waits.
_INDEX = text(f"""
WITH words AS MATERIALIZED ({_WORDS}),
posted AS (
    INSERT INTO mnestic.posting
    SELECT :tenant_id, :agent_id, lexeme, number, frequency, lexemes FROM words
),
counted AS (
    INSERT INTO mnestic.lexeme
    SELECT :tenant_id, :agent_id, lexeme, count(*) FROM words GROUP BY lexeme ORDER BY lexeme
    ON CONFLICT (tenant_id, agent_id, lexeme)
    DO UPDATE SET entries = mnestic.lexeme.entries + excluded.entries
)
INSERT INTO mnestic.corpus (tenant_id, agent_id, entries, lexemes, languages)
SELECT :tenant_id, :agent_id, count(*), COALESCE(sum(lexemes), 0), COALESCE(array_agg(DISTINCT language), '{{}}')
  FROM mnestic.entry WHERE tenant_id = :tenant_id AND agent_id = :agent_id AND number = ANY(:numbers)
ON CONFLICT (tenant_id, agent_id)
DO UPDATE SET entries = mnestic.corpus.entries + excluded.entries,
              lexemes = mnestic.corpus.lexemes + excluded.lexemes,
              languages = ARRAY(SELECT unnest(mnestic.corpus.languages) UNION SELECT unnest(excluded.languages) ORDER BY 1)
""")  # noqa: S608 - a constant of this module
# Each row is looked up by its whole key (`OFFSET 0`): else all that the agent has may be read once a word.
_UNINDEX = text(f"""
WITH words AS MATERIALIZED ({_WORDS}),
posted AS (
    DELETE FROM mnestic.posting WHERE ctid = ANY(ARRAY(
        SELECT found.place FROM words AS w, LATERAL (
            SELECT p.ctid AS place FROM mnestic.posting AS p
             WHERE p.tenant_id = :tenant_id AND p.agent_id = :agent_id
               AND p.lexeme = w.lexeme AND p.entry_number = w.number
            OFFSET 0
        ) AS found
    ))
),
held AS MATERIALIZED (
    SELECT found.lexeme FROM (SELECT DISTINCT lexeme FROM words ORDER BY lexeme) AS w, LATERAL (
        SELECT l.lexeme FROM mnestic.lexeme AS l
         WHERE l.tenant_id = :tenant_id AND l.agent_id = :agent_id AND l.lexeme = w.lexeme
        OFFSET 0 FOR UPDATE
    ) AS found
),
counted AS (
    UPDATE mnestic.lexeme AS l SET entries = l.entries - w.entries
      FROM (SELECT lexeme, count(*) AS entries FROM words GROUP BY lexeme) AS w, held
     WHERE l.tenant_id = :tenant_id AND l.agent_id = :agent_id
       AND l.lexeme = w.lexeme AND held.lexeme = w.lexeme
)
UPDATE mnestic.corpus AS c
   SET entries = c.entries - gone.entries, lexemes = c.lexemes - gone.lexemes
  FROM (SELECT count(*) AS entries, COALESCE(sum(lexemes), 0) AS lexemes FROM mnestic.entry
         WHERE tenant_id = :tenant_id AND agent_id = :agent_id AND number = ANY(:numbers)) AS gone
 WHERE c.tenant_id = :tenant_id AND c.agent_id = :agent_id
""")  # noqa: S608

_MINE = "tenant_id = :tenant_id AND agent_id = :agent_id"
_COUNT = text(f"""
WITH mine AS MATERIALIZED (
    SELECT entry_type, status, critical, at, expires_at,
           least(9, floor(importance * 10))::integer AS tenth
      FROM mnestic.entry WHERE {_MINE}
),
types AS (SELECT entry_type AS name, count(*) AS entries FROM mine GROUP BY entry_type),
statuses AS (SELECT status AS name, count(*) AS entries FROM mine GROUP BY status),
tenths AS (
    SELECT tenth, count(mine.tenth) AS entries
      FROM generate_series(0, 9) AS all_tenths (tenth) LEFT JOIN mine USING (tenth) GROUP BY tenth
),
models AS (
    SELECT model AS name, count(*) AS entries FROM mnestic.embedding WHERE {_MINE} GROUP BY model
)
SELECT (SELECT COALESCE(jsonb_object_agg(name, entries), '{{}}') FROM types) AS by_type,
       (SELECT COALESCE(jsonb_object_agg(name, entries), '{{}}') FROM statuses) AS by_status,
       (SELECT array_agg(entries ORDER BY tenth) FROM tenths) AS by_importance,
       (SELECT COALESCE(jsonb_object_agg(name, entries), '{{}}') FROM models) AS embedded,
       count(*) FILTER (WHERE critical) AS critical,
       count(*) FILTER (WHERE expires_at <= now()) AS expired,
       min(at) AS oldest, max(at) AS newest
  FROM mine
""")  # noqa: S608
_TABLE_BYTES = text("""
SELECT name, pg_total_relation_size('mnestic.' || name) AS bytes
  FROM unnest(ARRAY['resource', 'learning', 'entry', 'entry_term', 'posting', 'lexeme', 'embedding',
                    'claim', 'fact']) AS name
""")


class PostgresEntryStore:
    """Implements `mnestic.memory.ports.EntryStore`."""

    def __init__(self, unit: Unit) -> None:
        self._unit = unit
        self._vectors = Vectors(unit)

    async def add(self, entries: Sequence[Entry]) -> int:
        """See the port."""
        if not entries:
            return 0
        language = await language_of(self._unit)
        languages = {entry.id: language for entry in entries}
        new = await self._unit.rows(_ADD, self._packed(entries, languages))
        numbers = {row.id: row.number for row in new}
        added = [entry for entry in entries if entry.id in numbers]
        if not added:
            return 0
        await self._index(list(numbers.values()))
        await self._name(added, numbers)
        self._unit.added(numbers.values())
        for entry in added:
            self._unit.wrote("entry.add", entry.id)
        self._unit.tell(entry_signal("memory.stored", sorted(numbers)))
        return len(numbers)

    async def get(self, entry_id: str) -> Entry:
        """See the port."""
        found = await self.select([entry_id])
        if entry_id not in found:
            raise NotFoundError(what="entry", name=entry_id)
        self._unit.read("entry.get", entry_id)
        return found[entry_id]

    async def select(self, entry_ids: Sequence[str], *, lock: bool = False) -> dict[str, Entry]:
        """See the port."""
        return {row.id: _entry(row) for row in await self._stored(entry_ids, lock=lock)}

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
        if query.related is not None:
            found = found.where(ENTRY.c.number.in_(self._numbers_related(query.related)))
        if cursor is not None:
            found = found.where(tuple_(ENTRY.c.at, ENTRY.c.id) < decode_time_cursor(cursor))
        found = found.order_by(ENTRY.c.at.desc(), ENTRY.c.id.desc())
        rows = await self._unit.rows(found.limit(check_limit(limit) + 1))
        self._unit.read("entry.list", query.session_id or "*")
        entries = tuple(_entry(row) for row in rows[:limit])
        if len(rows) <= limit:
            return entries, None
        return entries, encode_cursor(entries[-1].at.isoformat(), entries[-1].id)

    async def select_naming(self, entry_ids: Collection[str]) -> tuple[str, ...]:
        """See the port."""
        ids = sorted(entry_ids)
        related = select(TERM.c.entry_number).where(
            self._unit.owned(TERM), TERM.c.kind == _RELATED, TERM.c.term.in_(ids)
        )
        is_named = or_(ENTRY.c.parent.in_(ids), ENTRY.c.number.in_(related))
        found = select(ENTRY.c.id).where(self._unit.owned(ENTRY), is_named).order_by(ENTRY.c.id)
        return tuple(row.id for row in await self._unit.rows(found))

    async def change(self, entries: Sequence[Entry]) -> None:
        """See the port."""
        if not entries:
            return
        before = {row.id: row for row in await self._stored([e.id for e in entries], lock=True)}
        for entry in entries:
            if entry.id not in before:
                raise NotFoundError(what="entry", name=entry.id)
            self._unit.wrote("entry.change", entry.id)
        numbers = {entry_id: row.number for entry_id, row in before.items()}
        languages = {entry_id: row.language for entry_id, row in before.items()}
        same = [entry for entry in entries if entry.content == before[entry.id].content]
        await self._unit.run(_CHANGE, self._packed(same, languages))
        anew = [entry for entry in entries if entry.content != before[entry.id].content]
        stale = [numbers[entry.id] for entry in anew]
        if stale:  # else full text search and vectors are true as they are
            await self._unindex(stale)
            await self._vectors.forget(stale)
            await self._unit.run(_REWRITE, self._packed(anew, languages))
            await self._index(stale)
        await self._unit.run(delete(TERM).where(self._of(TERM, list(numbers.values()))))
        await self._name(entries, numbers)
        self._unit.changed(numbers.values())
        self._unit.tell(entry_signal("memory.changed", sorted(numbers)))

    async def count_accesses(
        self, counts: Mapping[str, int], *, wait: bool = False
    ) -> frozenset[str]:
        """See the port."""
        return await add_accesses(self._unit, counts, wait=wait)

    async def remove(self, entry_ids: Sequence[str]) -> int:
        """See the port."""
        rows = await self._stored(entry_ids, lock=True)
        numbers = [row.number for row in rows]
        if not numbers:
            return 0
        await self._unindex(numbers)
        await self._vectors.forget(numbers)
        await self._unit.run(delete(TERM).where(self._of(TERM, numbers)))
        await self._unit.run(
            delete(ENTRY).where(self._unit.owned(ENTRY), ENTRY.c.number.in_(numbers))
        )
        for row in rows:
            self._unit.wrote("entry.remove", row.id)
        self._unit.changed(numbers)
        self._unit.tell(entry_signal("memory.deleted", [row.id for row in rows]))
        return len(numbers)

    async def count(self) -> EntryStatistics:
        """See the port."""
        (counted,) = await self._unit.rows(_COUNT, self._unit.owner)
        tables = await self._unit.rows(_TABLE_BYTES)
        self._unit.read("entry.count", "*")
        bytes_of = {row.name: row.bytes for row in tables}
        return EntryStatistics(**counted._mapping, table_bytes=bytes_of)  # noqa: SLF001

    async def list_unembedded(self, model: str, *, limit: int) -> tuple[Unembedded, ...]:
        """See the port."""
        rows = await self._vectors.missing(model, limit=check_limit(limit))
        return tuple(Unembedded(**row._mapping) for row in rows)  # noqa: SLF001

    async def embed(self, model: str, embeddings: Sequence[Embedding]) -> int:
        """See the port."""
        by_id = {embedding.entry_id: embedding for embedding in embeddings}
        held = select(ENTRY.c.id, ENTRY.c.number, ENTRY.c.content).where(
            self._unit.owned(ENTRY), ENTRY.c.id.in_(list(by_id))
        )
        stored = await self._unit.rows(held.order_by(ENTRY.c.id).with_for_update())
        vectors = {
            row.number: by_id[row.id].vector
            for row in stored
            if row.content == by_id[row.id].content
        }
        if not vectors:
            return 0
        kept = await self._vectors.keep(model, vectors)
        self._unit.wrote("entry.embed", f"{model}: {kept}")
        return kept

    async def embed_again(self, entry_ids: Sequence[str]) -> None:
        """See the port."""
        rows = await self._stored(entry_ids, lock=True)
        numbers = [row.number for row in rows]
        await self._vectors.forget(numbers, empty=True)
        self._unit.changed(numbers)

    async def _index(self, numbers: Sequence[int]) -> None:
        """Enters the contents of entries into full text search."""
        await self._unit.run(_INDEX, {**self._unit.owner, "numbers": sorted(numbers)})

    async def _unindex(self, numbers: Sequence[int]) -> None:
        """Takes the contents of entries, as they are stored, out of full text search."""
        await self._unit.run(_UNINDEX, {**self._unit.owner, "numbers": sorted(numbers)})

    async def _name(self, entries: Sequence[Entry], numbers: Mapping[str, int]) -> None:
        """Enters entries under the names that they are found by."""
        terms = sorted(
            {
                (kind, name_key(name), numbers[entry.id])
                for entry in entries
                for kind, column in _TERMS.items()
                for name in getattr(entry, column)
            }
            | {(_RELATED, name, numbers[entry.id]) for entry in entries for name in entry.related}
        )
        rows = [{"kind": kind, "term": term, "entry_number": n} for kind, term, n in terms]
        await self._unit.run(_NAME, packed(self._unit.owner, rows, what="names of entries"))

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

    def _numbers_related(self, entry_id: str) -> Any:
        """Entries that are related to another."""
        owned = self._unit.owned(TERM)
        return select(TERM.c.entry_number).where(
            owned, TERM.c.kind == _RELATED, TERM.c.term == entry_id
        )

    def _of(self, target: Any, numbers: Sequence[int]) -> Any:
        return self._unit.owned(target) & target.c.entry_number.in_(numbers)

    def _packed(self, entries: Sequence[Entry], languages: Mapping[str, str]) -> dict[str, str]:
        rows = [
            {
                **entry.model_dump(exclude={"created_at", "updated_at"}),
                "language": languages[entry.id],
                "marks": marks_of(entry.content, entry.times),
            }
            for entry in entries
        ]
        return packed(self._unit.owner, rows, what="entries")


def _conditions(query: EntryQuery) -> list[Any]:
    """What a query asks of the columns."""
    asked = [
        (ENTRY.c.entry_type.in_, query.entry_types or None),
        (ENTRY.c.session_id.__eq__, query.session_id),
        (ENTRY.c.channel.__eq__, query.channel),
        (ENTRY.c.parent.__eq__, query.parent),
        (ENTRY.c.at.__ge__, query.since),
        (ENTRY.c.at.__lt__, query.until),
    ]
    conditions = [condition(value) for condition, value in asked if value is not None]
    if not query.expired:
        conditions.append(or_(ENTRY.c.expires_at.is_(None), ENTRY.c.expires_at > func.now()))
    return conditions


def _entry(row: Row[Any]) -> Entry:
    return read_stored(Entry, dict(row._mapping), what=f"entry {row.id}")  # noqa: SLF001
