"""Entries in Postgres, and the indexes that follow each of their changes in the same transaction."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sqlalchemy import Row, bindparam, delete, func, select, text, tuple_, update
from sqlalchemy.dialects.postgresql import insert

from mnestic.memory.canonical import check_json
from mnestic.memory.claims import name_key
from mnestic.memory.entries import Embedding, Entry, EntryQuery
from mnestic.memory.errors import NotFoundError
from mnestic.memory.signals import entry_signal
from mnestic.stores.postgres.knowledge_tables import EmbeddingRow, EntryRow, EntryTermRow
from mnestic.stores.postgres.pages import check_limit, decode_time_cursor, encode_cursor
from mnestic.stores.postgres.stored import read_stored
from mnestic.stores.postgres.tables import table
from mnestic.stores.postgres.unit import Unit

ENTRY, TERM, EMBEDDING = table(EntryRow), table(EntryTermRow), table(EmbeddingRow)
LANGUAGE = "english"
_TERMS = {"keyword": "keywords", "tag": "tags", "alias": "aliases", "subject": "subjects"}
_CHANGED = [
    name for name in Entry.model_fields if name not in {"id", "content", "created_at", "updated_at"}
]
_CHANGE = (
    update(ENTRY)
    .where(
        ENTRY.c.tenant_id == bindparam("of_tenant_id"),
        ENTRY.c.agent_id == bindparam("of_agent_id"),
        ENTRY.c.id == bindparam("of_id"),
    )
    .values(updated_at=func.now())
)
_WORDS = """
    SELECT e.number, w.lexeme, least(cardinality(w.positions), 32767) AS frequency, e.lexemes
      FROM mnestic.entry AS e,
           unnest(to_tsvector(CAST(e.language AS regconfig), e.content)) AS w
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
INSERT INTO mnestic.corpus
SELECT :tenant_id, :agent_id, count(*), COALESCE(sum(lexemes), 0) FROM mnestic.entry
 WHERE tenant_id = :tenant_id AND agent_id = :agent_id AND number = ANY(:numbers)
ON CONFLICT (tenant_id, agent_id)
DO UPDATE SET entries = mnestic.corpus.entries + excluded.entries,
              lexemes = mnestic.corpus.lexemes + excluded.lexemes
""")  # noqa: S608 - a constant of this module
_UNINDEX = text(f"""
WITH words AS MATERIALIZED ({_WORDS}),
posted AS (
    DELETE FROM mnestic.posting AS p USING words AS w
     WHERE p.tenant_id = :tenant_id AND p.agent_id = :agent_id
       AND p.lexeme = w.lexeme AND p.entry_number = w.number
),
held AS MATERIALIZED (
    SELECT lexeme FROM mnestic.lexeme
     WHERE tenant_id = :tenant_id AND agent_id = :agent_id
       AND lexeme IN (SELECT lexeme FROM words)
     ORDER BY lexeme FOR UPDATE
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


class PostgresEntryStore:
    """Implements `mnestic.memory.ports.EntryStore`."""

    def __init__(self, unit: Unit) -> None:
        self._unit = unit

    async def add(self, entries: Sequence[Entry]) -> int:
        """See the port."""
        if not entries:
            return 0
        check_json([entry.model_dump(mode="json") for entry in entries], what="entries")
        statement = (
            insert(ENTRY)
            .values(created_at=func.now(), updated_at=func.now())
            .on_conflict_do_nothing()
            .returning(ENTRY.c.id, ENTRY.c.number)
        )
        rows = [self._row(entry) for entry in entries]
        numbers = {row.id: row.number for row in await self._unit.rows(statement, rows)}
        added = [entry for entry in entries if entry.id in numbers]
        if not added:
            return 0
        await self._index(list(numbers.values()))
        await self._name(added, numbers)
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

    async def list_entries(
        self, query: EntryQuery, *, limit: int = 100, cursor: str | None = None
    ) -> tuple[tuple[Entry, ...], str | None]:
        """See the port."""
        found = select(*ENTRY.c).where(
            self._unit.owned(ENTRY), ENTRY.c.status.in_(query.statuses), *_conditions(query)
        )
        if query.subject is not None:
            found = found.where(ENTRY.c.number.in_(self._numbers("subject", query.subject)))
        if cursor is not None:
            found = found.where(tuple_(ENTRY.c.at, ENTRY.c.id) < decode_time_cursor(cursor))
        found = found.order_by(ENTRY.c.at.desc(), ENTRY.c.id.desc())
        rows = await self._unit.rows(found.limit(check_limit(limit) + 1))
        self._unit.read("entry.list", query.session_id or "*")
        entries = tuple(_entry(row) for row in rows[:limit])
        if len(rows) <= limit:
            return entries, None
        return entries, encode_cursor(entries[-1].at.isoformat(), entries[-1].id)

    async def change(self, entries: Sequence[Entry]) -> None:
        """See the port."""
        if not entries:
            return
        check_json([entry.model_dump(mode="json") for entry in entries], what="entries")
        before = {row.id: row for row in await self._stored([e.id for e in entries], lock=True)}
        for entry in entries:
            if entry.id not in before:
                raise NotFoundError(what="entry", name=entry.id)
            self._unit.wrote("entry.change", entry.id)
        numbers = {entry_id: row.number for entry_id, row in before.items()}
        await self._rewrite([e for e in entries if e.content == before[e.id].content], _CHANGED)
        anew = [entry for entry in entries if entry.content != before[entry.id].content]
        stale = [numbers[entry.id] for entry in anew]
        if stale:  # else full text search and vectors are true as they are
            await self._unindex(stale)
            await self._unit.run(delete(EMBEDDING).where(self._of(EMBEDDING, stale)))
            await self._rewrite(anew, [*_CHANGED, "content"])
            await self._index(stale)
        await self._unit.run(delete(TERM).where(self._of(TERM, list(numbers.values()))))
        await self._name(entries, numbers)
        self._unit.tell(entry_signal("memory.changed", sorted(numbers)))

    async def remove(self, entry_ids: Sequence[str]) -> int:
        """See the port."""
        rows = await self._stored(entry_ids, lock=True)
        numbers = [row.number for row in rows]
        if not numbers:
            return 0
        await self._unindex(numbers)
        for index in (TERM, EMBEDDING):
            await self._unit.run(delete(index).where(self._of(index, numbers)))
        await self._unit.run(
            delete(ENTRY).where(self._unit.owned(ENTRY), ENTRY.c.number.in_(numbers))
        )
        for row in rows:
            self._unit.wrote("entry.remove", row.id)
        self._unit.tell(entry_signal("memory.deleted", [row.id for row in rows]))
        return len(numbers)

    async def list_unembedded(self, model: str, *, limit: int) -> tuple[Entry, ...]:
        """See the port."""
        known = select(EMBEDDING.c.entry_number).where(
            self._unit.owned(EMBEDDING),
            EMBEDDING.c.model == model,
            EMBEDDING.c.entry_number == ENTRY.c.number,
        )
        rows = await self._unit.rows(
            select(*ENTRY.c)
            .where(self._unit.owned(ENTRY), ~known.exists())
            .order_by(ENTRY.c.number)
            .limit(check_limit(limit))
        )
        return tuple(_entry(row) for row in rows)

    async def embed(self, model: str, embeddings: Sequence[Embedding]) -> int:
        """See the port."""
        by_id = {embedding.entry_id: embedding for embedding in embeddings}
        rows = await self._unit.rows(
            select(ENTRY.c.id, ENTRY.c.number, ENTRY.c.content).where(
                self._unit.owned(ENTRY), ENTRY.c.id.in_(list(by_id))
            )
        )
        values = [
            {
                **self._unit.owner,
                "model": model,
                "entry_number": row.number,
                "dimensions": len(by_id[row.id].vector) // 4,
                "vector": np.frombuffer(by_id[row.id].vector, dtype="<f4"),
            }
            for row in rows
            if row.content == by_id[row.id].content
        ]
        if not values:
            return 0
        statement = insert(EMBEDDING).on_conflict_do_nothing()
        written = await self._unit.run(statement, values)
        self._unit.wrote("entry.embed", f"{model}: {len(values)}")
        return written

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
        )
        if terms:
            names = ("kind", "term", "entry_number")
            rows = [{**self._unit.owner, **dict(zip(names, term, strict=True))} for term in terms]
            await self._unit.run(insert(TERM), rows)

    async def _rewrite(self, entries: Sequence[Entry], columns: Sequence[str]) -> None:
        rows = [
            {name: row[name] for name in columns}
            | {f"of_{name}": row[name] for name in ("tenant_id", "agent_id", "id")}
            for row in map(self._row, entries)
        ]
        if rows:
            await self._unit.run(_CHANGE, rows)

    async def _stored(self, entry_ids: Sequence[str], *, lock: bool) -> Sequence[Row[Any]]:
        found = select(*ENTRY.c).where(self._unit.owned(ENTRY), ENTRY.c.id.in_(entry_ids))
        found = found.order_by(ENTRY.c.id)
        return await self._unit.rows(found.with_for_update() if lock else found)

    def _numbers(self, kind: str, name: str) -> Any:
        return select(TERM.c.entry_number).where(
            self._unit.owned(TERM), TERM.c.kind == kind, TERM.c.term == name_key(name)
        )

    def _of(self, target: Any, numbers: Sequence[int]) -> Any:
        return self._unit.owned(target) & target.c.entry_number.in_(numbers)

    def _row(self, entry: Entry) -> dict[str, Any]:
        lists = entry.model_dump(mode="json", include={"times", *_TERMS.values()})
        lists |= {"related": list(entry.related), "facts": list(entry.facts)}
        columns = entry.model_dump(exclude={"created_at", "updated_at"})
        return {**self._unit.owner, **columns, **lists, "language": LANGUAGE}


def _conditions(query: EntryQuery) -> list[Any]:
    """What a query asks of the columns."""
    asked = [
        (ENTRY.c.entry_type.in_, query.entry_types or None),
        (ENTRY.c.session_id.__eq__, query.session_id),
        (ENTRY.c.channel.__eq__, query.channel),
        (ENTRY.c.at.__ge__, query.since),
        (ENTRY.c.at.__lt__, query.until),
    ]
    return [condition(value) for condition, value in asked if value is not None]


def _entry(row: Row[Any]) -> Entry:
    return read_stored(Entry, dict(row._mapping), what=f"entry {row.id}")  # noqa: SLF001
