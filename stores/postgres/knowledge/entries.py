"""Entries in Postgres, and the indexes that follow each of their changes in the same transaction."""

import logging
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import repeat
from operator import itemgetter
from typing import Any

from sqlalchemy import Row, delete, func, literal, or_, select, text, tuple_, union

from mnestic.memory.errors import NotFoundError
from mnestic.memory.knowledge.claims import name_key
from mnestic.memory.knowledge.entries import (
    Embedding,
    Entry,
    EntryQuery,
    EntryStatistics,
    Unembedded,
)
from mnestic.memory.knowledge.entry_features import features_of
from mnestic.memory.knowledge.events import entry_event
from mnestic.memory.knowledge.predicates import NAMING
from mnestic.memory.language.languages import LANGUAGE
from mnestic.memory.language.terms import first_terms
from mnestic.memory.models.errors import ModelRefusedError, ModelUnavailableError
from mnestic.memory.ports import Embedder, WordEmbedder
from mnestic.stores.postgres.bulk import insert_rows, packed, update_rows
from mnestic.stores.postgres.cursors import check_limit, decode_time_cursor, encode_cursor
from mnestic.stores.postgres.knowledge.tables import EntryRow, EntryTermRow, FactRow
from mnestic.stores.postgres.knowledge.vectors import Vectors
from mnestic.stores.postgres.queries import read_query
from mnestic.stores.postgres.reals import reals_of
from mnestic.stores.postgres.stored import read_stored
from mnestic.stores.postgres.tables import table
from mnestic.stores.postgres.unit_of_work import UnitOfWork

_Tokens = Iterable[bytes | None]  # of each entry
log = logging.getLogger("mnestic.entries")
ENTRY, TERM, FACT = table(EntryRow), table(EntryTermRow), table(FactRow)
# Not keywords: those are words of the content, by which full text search finds it.
_TERMS = {"tag": "tags", "alias": "aliases", "subject": "subjects"}
_RELATED = "related"  # a term that is no name
_COLUMNS = [
    *(name for name in Entry.model_fields if name not in {"created_at", "updated_at"}),
    *("language", "features", "tokens"),
]
_ADD, _COUNT = read_query("add_entries"), read_query("count_entries")
_INDEX, _UNINDEX = read_query("index_entries"), read_query("unindex_entries")
_CONTENT = ("content", "language", "tokens")
_COUNTED = ("access_count", "last_accessed")  # by `PostgresAccessStore`, whatever else is written
_CHANGED = [name for name in _COLUMNS if name not in {"id", *_CONTENT, *_COUNTED}]
_CHANGE = update_rows(ENTRY, *_CHANGED, key=["id"], now=["updated_at"])
_REWRITE = update_rows(ENTRY, *_CHANGED, *_CONTENT, key=["id"], now=["updated_at"])
_NAME = insert_rows(TERM, "kind", "term", "entry_number")

_TABLE_BYTES = text("""
SELECT name, pg_total_relation_size('mnestic.' || name) AS bytes
  FROM unnest(ARRAY['resource', 'ingest_state', 'entry', 'entry_term', 'posting', 'lexeme', 'embedding',
                    'claim', 'fact']) AS name
""")


class PostgresEntryStore:
    """Implements `mnestic.memory.ports.EntryStore`."""

    def __init__(self, unit: UnitOfWork, embedder: Embedder | None = None) -> None:
        """Prepares the store; an embedder that needs no server gives entries their vectors as they are written."""
        self._unit, self._embedder = unit, embedder
        self._vectors = Vectors(unit)

    async def add(self, entries: Sequence[Entry]) -> tuple[Entry, ...]:
        """See the port."""
        if not entries:
            return ()
        vectors, tokens = await self._embedded(entries)  # before anything is locked
        rows = [{**row, "place": place} for place, row in enumerate(_rows(entries, tokens), 1)]
        terms = [
            {"id": entry_id, "kind": kind, "term": term} for entry_id, kind, term in _terms(entries)
        ]
        parameters = {
            **packed(self._unit.owner, rows, what="entries", name="entries"),
            **packed({}, terms, what="names of entries", name="terms"),
            "language": LANGUAGE,
            "model": self._embedder.name if self._embedder else "",
            **reals_of(vectors),
        }
        (new,) = await self._unit.rows_of(_ADD.bind(parameters))
        by_id = {entry.id: entry for entry in reversed(entries)}  # the first of an id is added
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
        await self._unit.run(_CHANGE, self._packed(same, languages, repeat(None)))
        anew = [entry for entry in entries if entry.content != before[entry.id].content]
        stale = [numbers[entry.id] for entry in anew]
        if stale:  # else full text search and vectors are true as they are
            vectors, tokens = await self._embedded(anew)
            await self._unindex(stale)
            await self._vectors.forget(stale)
            await self._unit.run(_REWRITE, self._packed(anew, languages, tokens))
            await self._index(stale)
            if vectors and self._embedder is not None:
                by_number = dict(zip(stale, vectors, strict=True))
                await self._vectors.keep(self._embedder.name, by_number)
        await self._unit.run(delete(TERM).where(self._of(TERM, list(numbers.values()))))
        await self._name(entries, numbers)
        self._unit.changed()
        self._unit.publish(entry_event("memory.changed", sorted(numbers)))

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
        self._unit.changed()
        self._unit.publish(entry_event("memory.deleted", [row.id for row in rows]))
        return len(numbers)

    async def count(self) -> EntryStatistics:
        """See the port."""
        ((counted,),) = await self._unit.rows_of(_COUNT.bind(self._unit.owner))
        tables = await self._unit.rows(_TABLE_BYTES)
        self._unit.read("entry.count", "*")
        bytes_of = {row.name: row.bytes for row in tables}
        return EntryStatistics(**counted._asdict(), table_bytes=bytes_of)

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

    async def _embedded(self, entries: Sequence[Entry]) -> tuple[tuple[bytes, ...], _Tokens]:
        """The vectors of entries, and the tokens of their first terms.

        None without an embedder, or if it fails: then `IngestMessages` asks for vectors, and questions for tokens.
        """
        embedder = self._embedder
        if embedder is None:
            return (), repeat(None)
        try:
            vectors = (await embedder.embed([entry.content for entry in entries])).vectors
            if not isinstance(embedder, WordEmbedder):
                return vectors, repeat(None)
            texts = [" ".join(first_terms(entry.content)) for entry in entries]
            return vectors, embedder.tokenize(texts)
        except (ModelUnavailableError, ModelRefusedError):  # the entries are worth more
            log.exception("entries have no vectors yet", extra={"entries": len(entries)})
            return (), repeat(None)

    async def _index(self, numbers: Sequence[int]) -> None:
        """Enters the contents of entries into full text search."""
        await self._unit.rows_of(_INDEX.bind({**self._unit.owner, "numbers": sorted(numbers)}))

    async def _unindex(self, numbers: Sequence[int]) -> None:
        """Takes the contents of entries, as they are stored, out of full text search."""
        await self._unit.rows_of(_UNINDEX.bind({**self._unit.owner, "numbers": sorted(numbers)}))

    async def _name(self, entries: Sequence[Entry], numbers: Mapping[str, int]) -> None:
        """Enters entries under the names that they are found by."""
        rows = [
            {"kind": kind, "term": term, "entry_number": numbers[entry_id]}
            for entry_id, kind, term in _terms(entries)
        ]
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

    def _packed(
        self, entries: Sequence[Entry], languages: Mapping[str, str], tokens: _Tokens
    ) -> dict[str, str]:
        rows = [{**row, "language": languages[row["id"]]} for row in _rows(entries, tokens)]
        return packed(self._unit.owner, rows, what="entries")


def _rows(entries: Sequence[Entry], tokens: _Tokens) -> Iterator[dict[str, Any]]:
    """The columns of entries, without their language and what the database sets."""
    for entry, its in zip(entries, tokens, strict=False):  # what has none for any ends nowhere
        columns = entry.model_dump(exclude={"created_at", "updated_at"})
        columns["tokens"] = None if its is None else f"\\x{its.hex()}"  # as Postgres reads it
        yield {**columns, "features": features_of(entry.content, entry.times)}


def _terms(entries: Sequence[Entry]) -> list[tuple[str, str, str]]:
    """The names that entries are found by: entry, kind and term, each once and in the order of the index."""
    named = {
        (entry.id, kind, name_key(name))
        for entry in entries
        for kind, column in _TERMS.items()
        for name in getattr(entry, column)
    }
    related = {(entry.id, _RELATED, name) for entry in entries for name in entry.related}
    return sorted(named | related, key=itemgetter(1, 2, 0))


def _conditions(query: EntryQuery) -> list[Any]:
    """What a query asks of the columns."""
    parameters = [
        (ENTRY.c.entry_type.in_, query.entry_types or None),
        (ENTRY.c.session_id.__eq__, query.session_id),
        (ENTRY.c.channel.__eq__, query.channel),
        (ENTRY.c.parent.__eq__, query.parent),
        (ENTRY.c.at.__ge__, query.since),
        (ENTRY.c.at.__lt__, query.until),
    ]
    conditions = [condition(value) for condition, value in parameters if value is not None]
    if not query.expired:
        conditions.append(or_(ENTRY.c.expires_at.is_(None), ENTRY.c.expires_at > func.now()))
    return conditions


def _entry(row: Row[Any]) -> Entry:
    return read_stored(Entry, dict(row._mapping), what=f"entry {row.id}")  # noqa: SLF001
