"""Documents of collections in Postgres: their metadata, and their parts in the index that finds entries.

The parts of a collection are entries of a corpus of its own, so that searches of the agent's memory neither find nor weigh them.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from psycopg import sql

from mnestic.memory.jobs.long_term.document_store import DocumentSearch, PartVectors
from mnestic.memory.jobs.long_term.documents import (
    Document,
    DocumentPart,
    DocumentPlace,
    SearchResult,
    StoredParts,
    score_of,
)
from mnestic.memory.knowledge.entries import Entry
from mnestic.memory.models.messages import Embeddings, TokenUsage
from mnestic.memory.scope import corpus_of
from mnestic.stores.postgres.cursors import check_limit, decode_cursor, encode_cursor
from mnestic.stores.postgres.jobs.record_filters import filter_of, numbered
from mnestic.stores.postgres.knowledge.entry_index import EntryIndex
from mnestic.stores.postgres.knowledge.vectors import EF_SEARCH, INDEXED_FROM, Vectors
from mnestic.stores.postgres.queries import as_json, read_query
from mnestic.stores.postgres.reals import reals_of
from mnestic.stores.postgres.unit_of_work import CorpusStatements, UnitOfWork

_PUT, _REMOVE = read_query("documents.put"), read_query("documents.remove")
_NUMBER, _FIND_CORPUS = read_query("documents.number"), read_query("documents.find_corpus")
_SET_SEARCH = read_query("documents.set_search")
_LIST = read_query("documents.list_documents")
_PARAMETERS = {
    name: sql.Placeholder(name)
    for name in (
        *("tenant_id", "agent_id", "collection_id", "corpus", "model"),
        *("vectors", "dimensions", "limit", "is_indexed"),
    )
}
# The vectors of all parts, by their index if there is one.
_NEAREST = sql.SQL(
    "SELECT number, score FROM mnestic.nearest_vectors({tenant_id}, {corpus}, {model},"
    " CAST(CAST({vectors} AS real[]) AS halfvec), CAST({limit} AS integer), CAST({is_indexed} AS boolean))"
)
# Those of documents that pass a filter are all compared, so none that is near is left out. Each vector is looked up
# (OFFSET 0): else the planner may read all of them for each document.
_NEAREST_PASSING = sql.SQL(
    "SELECT e.number, - (v.vector <#> CAST(CAST({vectors} AS real[]) AS halfvec)) AS score"
    " FROM (SELECT id AS key, metadata AS value, metadata, numbers FROM mnestic.document"
    " WHERE tenant_id = {tenant_id} AND agent_id = {agent_id} AND collection_id = {collection_id} OFFSET 0) AS d"
    " CROSS JOIN LATERAL unnest(d.numbers) AS e (number)"
    " CROSS JOIN LATERAL (SELECT vector FROM mnestic.embedding"
    " WHERE tenant_id = {tenant_id} AND agent_id = {corpus} AND model = {model} AND entry_number = e.number"
    " AND dimensions = CAST({dimensions} AS integer) OFFSET 0) AS v"
    " WHERE {where} ORDER BY score DESC LIMIT CAST({limit} AS integer)"
)
_SEARCH = sql.SQL(
    "WITH nearest AS MATERIALIZED ({nearest})"
    " SELECT d.id, e.content, n.score AS similarity, d.metadata, d.source, e.part, d.places -> e.part AS place"
    " FROM nearest AS n"
    " CROSS JOIN LATERAL (SELECT session_id, content, CAST(source_id AS integer) AS part FROM mnestic.entry"
    " WHERE tenant_id = {tenant_id} AND agent_id = {corpus} AND number = n.number OFFSET 0) AS e"
    " CROSS JOIN LATERAL (SELECT id, metadata, source, places FROM mnestic.document"
    " WHERE tenant_id = {tenant_id} AND agent_id = {agent_id} AND collection_id = {collection_id}"
    " AND id = e.session_id OFFSET 0) AS d"
    " ORDER BY n.score DESC, d.id, e.part"
)


class PostgresDocumentStore:
    """Implements `mnestic.memory.jobs.long_term.document_store.DocumentStore`."""

    def __init__(self, unit: UnitOfWork) -> None:
        self._unit = unit

    async def find_active_model(self, collection_id: str) -> str | None:
        """See the port."""
        return await Vectors(self._corpus(collection_id)).active_model()

    async def put(
        self,
        collection_id: str,
        document: Document,
        parts: Sequence[DocumentPart],
        *,
        made: PartVectors | None,
    ) -> bool:
        """See the port."""
        return bool(await self._write(collection_id, document, parts, made=made))

    async def restore(self, document: StoredParts) -> bool:
        """See the port."""
        replaced = await self._write(document.collection_id, document, document.parts)
        return replaced is False

    async def _write(
        self,
        collection_id: str,
        document: Document | StoredParts,
        parts: Sequence[DocumentPart],
        *,
        made: PartVectors | None = None,
    ) -> bool | None:
        """Returns whether it replaced one; None, and nothing is written, if an exported one is there."""
        restored = document if isinstance(document, StoredParts) else None
        row = await self._unit.fetch_one(
            _PUT,
            collection_id=collection_id,
            id=document.id,
            metadata=as_json(document.metadata),
            source=document.source,
            places=as_json([one.model_dump(exclude={"content"}) for one in parts]),
            created_at=restored and restored.created_at,
            updated_at=restored and restored.updated_at,
        )
        if row is None:
            return None
        if row.numbers:
            await EntryIndex(self._corpus(collection_id)).remove(row.numbers)
        index = EntryIndex(self._corpus(collection_id), made and _MadeVectors(made))
        entries = [_entry(document.id, *one, at=row.at) for one in enumerate(parts)]
        numbers = {added.id: added.number for added in await index.add(entries)}
        await self._unit.write(
            _NUMBER,
            collection_id=collection_id,
            id=document.id,
            numbers=[numbers[entry.id] for entry in entries],
        )
        self._unit.wrote("document.put", f"{collection_id}/{document.id}")
        return not row.is_new

    async def remove(self, collection_id: str, document_id: str) -> bool:
        """See the port."""
        named = {"collection_id": collection_id, "id": document_id}
        row = await self._unit.fetch_one(_REMOVE, **named)
        if row is None:
            return False
        if row.numbers:
            await EntryIndex(self._corpus(collection_id)).remove(row.numbers)
        self._unit.wrote("document.remove", f"{collection_id}/{document_id}")
        return True

    async def search(self, collection_id: str, query: DocumentSearch) -> tuple[SearchResult, ...]:
        """See the port."""
        where, values = filter_of(query.where)
        form = _NEAREST if query.where is None else _NEAREST_PASSING
        statement = _SEARCH.format(nearest=form.format(where=where, **_PARAMETERS), **_PARAMETERS)
        corpus = corpus_of(self._unit.agent_id, collection_id)
        asked = {**self._unit.owner, "corpus": corpus, "model": query.name}
        _, found = await self._unit.rows_of(
            _SET_SEARCH.bind({"ef_search": EF_SEARCH}), _FIND_CORPUS.bind(asked)
        )
        has_index = bool(found) and found[0].entries >= INDEXED_FROM
        rows = await self._unit.fetch(
            numbered(statement),
            collection_id=collection_id,
            corpus=corpus,
            model=query.name,
            limit=query.limit,
            is_indexed=has_index and query.limit <= EF_SEARCH,
            **reals_of([query.vector]),
            **values,
        )
        self._unit.read("document.search", collection_id)
        results = (_result(row, score_of(query.metric, row.similarity)) for row in rows)
        return tuple(one for one in results if one.score >= query.min_score)

    async def list_documents(
        self, *, limit: int = 100, cursor: str | None = None
    ) -> tuple[tuple[StoredParts, ...], str | None]:
        """See the port."""
        after, after_id = (None, None) if cursor is None else decode_cursor(cursor, parts=2)
        rows = await self._unit.fetch(
            _LIST, after=after, after_id=after_id, limit=check_limit(limit) + 1
        )
        self._unit.read("document.list", "*")
        page = tuple(map(_stored, rows[:limit]))
        if len(rows) <= limit:
            return page, None
        return page, encode_cursor(page[-1].collection_id, page[-1].id)

    def _corpus(self, collection_id: str) -> CorpusStatements:
        return CorpusStatements(self._unit, corpus_of(self._unit.agent_id, collection_id))


class _MadeVectors:
    """An embedder of texts whose vectors were made before the transaction."""

    model = None
    batch = 1

    def __init__(self, made: PartVectors) -> None:
        self.name, self._vectors = made.name, made.vectors

    async def embed(self, texts: Sequence[str]) -> Embeddings:
        """See the port."""
        assert len(texts) == len(self._vectors), "a vector of each part"
        usage = TokenUsage(input_tokens=0, output_tokens=0)
        return Embeddings(vectors=self._vectors, model=self.name, usage=usage)


def _entry(document_id: str, number: int, part: DocumentPart, *, at: datetime) -> Entry:
    return Entry(
        id=f"{document_id}#{number}",
        kind="document",
        entry_type="knowledge",
        content=part.content,
        session_id=document_id,
        source_id=str(number),
        at=at,
    )


def _result(row: Any, score: float) -> SearchResult:
    place = DocumentPlace(**{**(row.place or {}), "source": row.source, "part": row.part})
    return SearchResult(
        id=row.id, content=row.content, score=score, metadata=row.metadata, place=place
    )


def _stored(row: Any) -> StoredParts:
    parts = (
        DocumentPart(**{**place, "content": content})
        for place, content in zip(row.places, row.contents, strict=True)
    )
    columns = row._asdict()
    del columns["places"], columns["contents"]
    return StoredParts(**columns, parts=tuple(parts))
