"""Embeddings of an agent in Postgres: the models of its vectors, and the switch from one to another."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from mnestic.memory.errors import InvalidInputError
from mnestic.memory.knowledge.entries import Embedding, Unembedded
from mnestic.memory.maintenance.embeddings import NEAREST, AgentEmbeddings, Lacking, SampledEntry
from mnestic.memory.maintenance.integrity import IndexSample
from mnestic.stores.postgres.cursors import check_limit, decode_cursor, encode_cursor
from mnestic.stores.postgres.queries import NamedQuery, read_query
from mnestic.stores.postgres.reals import reals_of
from mnestic.stores.postgres.retrieval.search import EF_SEARCH
from mnestic.stores.postgres.retrieval.vector_indexes import INDEXED_FROM, VectorIndex
from mnestic.stores.postgres.unit_of_work import UnitOfWork

_SAMPLE_INDEX = read_query("sample_index")
_LIST = NamedQuery.of("""
SELECT c.agent_id, c.active_model, c.previous_model, c.rejected_model, c.switched_at, c.entries,
       COALESCE((SELECT jsonb_object_agg(m.model, m.entries) FROM mnestic.embedding_model AS m
                  WHERE m.tenant_id = c.tenant_id AND m.agent_id = c.agent_id AND m.entries > 0), '{}') AS vectors
  FROM mnestic.corpus AS c
 WHERE c.tenant_id = %(tenant_id)s AND (CAST(%(agent_id)s AS text) IS NULL OR c.agent_id = %(agent_id)s)
   AND c.agent_id > %(after)s
 ORDER BY c.agent_id LIMIT %(limit)s
""")
_LACKING = NamedQuery.of("""
SELECT (SELECT count(*) FROM mnestic.entry AS e
         WHERE e.tenant_id = %(tenant_id)s AND e.agent_id = %(agent_id)s
           AND NOT EXISTS (SELECT FROM mnestic.embedding AS v
                            WHERE v.tenant_id = %(tenant_id)s AND v.agent_id = %(agent_id)s AND v.model = %(model)s
                              AND v.entry_number = e.number)) AS entries,
       (SELECT count(*) FROM mnestic.archived_entry
         WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND NOT %(model)s = ANY(models)) AS archived
""")
_ARCHIVED = NamedQuery.of("""
SELECT id, entry ->> 'content' AS content FROM mnestic.archived_entry
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND NOT %(model)s = ANY(models)
 ORDER BY id LIMIT %(limit)s
""")
_EMBED_ARCHIVED = NamedQuery.of("""
WITH changed AS (
    UPDATE mnestic.archived_entry AS a SET models = a.models || g.model, vectors = a.vectors || g.vector
      FROM (SELECT id, content, CAST(%(model)s AS text) AS model,
                   CAST((CAST(%(vectors)s AS real[]))[(place - 1) * CAST(%(dimensions)s AS integer) + 1
                        : place * CAST(%(dimensions)s AS integer)] AS halfvec) AS vector
              FROM unnest(CAST(%(ids)s AS text[]), CAST(%(contents)s AS text[])) WITH ORDINALITY AS _ (id, content, place)) AS g
     WHERE a.tenant_id = %(tenant_id)s AND a.agent_id = %(agent_id)s AND a.id = g.id
       AND a.entry ->> 'content' = g.content AND NOT g.model = ANY(a.models)
    RETURNING 1
)
SELECT count(*) AS embedded FROM changed
""")
_SAMPLE = NamedQuery.of("""
SELECT number, content FROM mnestic.entry
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND status = 'active'
   AND (expires_at IS NULL OR expires_at > now())
 ORDER BY md5(id), id LIMIT %(limit)s
""")
_MODEL = NamedQuery.of("""
SELECT m.entries, (SELECT v.dimensions FROM mnestic.embedding AS v
                    WHERE v.tenant_id = m.tenant_id AND v.agent_id = m.agent_id AND v.model = m.model LIMIT 1) AS dimensions
  FROM mnestic.embedding_model AS m
 WHERE m.tenant_id = %(tenant_id)s AND m.agent_id = %(agent_id)s AND m.model = %(model)s
""")
_INDEX = NamedQuery.of("""
SELECT EXISTS (SELECT FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid
                WHERE i.indrelid = 'mnestic.embedding'::regclass AND i.indisvalid AND c.relname = %(name)s) AS is_there
""")
_NEAREST = NamedQuery.of("""
SELECT array_agg(n.number ORDER BY n.score DESC, n.number) AS numbers
  FROM mnestic.nearest_vectors(
       %(tenant_id)s, %(agent_id)s, %(model)s, CAST(CAST(%(vectors)s AS real[]) AS halfvec), %(most)s, %(is_indexed)s) AS n
""")
_SETTINGS = NamedQuery.of("SELECT set_config('hnsw.ef_search', %(ef_search)s, true) AS ef_search")
_LOCK = NamedQuery.of("""
SELECT active_model, previous_model, rejected_model FROM mnestic.corpus
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s FOR UPDATE
""")
_SET = NamedQuery.of("""
UPDATE mnestic.corpus SET active_model = %(active)s, previous_model = %(previous)s, rejected_model = %(rejected)s,
       switched_at = %(now)s
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s
""")
_ACCEPT = NamedQuery.of("""
UPDATE mnestic.corpus SET rejected_model = NULL WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s
""")
_REMOVE = NamedQuery.of("""
WITH removed AS (
    DELETE FROM mnestic.embedding
     WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND model = %(model)s
       AND entry_number IN (SELECT entry_number FROM mnestic.embedding
                             WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND model = %(model)s
                             ORDER BY entry_number LIMIT %(limit)s)
    RETURNING 1
),
counted AS (
    UPDATE mnestic.embedding_model SET entries = entries - (SELECT count(*) FROM removed), complete_to = 0
     WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND model = %(model)s
)
SELECT count(*) AS removed FROM removed
""")
_REMOVE_ARCHIVED = NamedQuery.of("""
WITH changed AS (
    UPDATE mnestic.archived_entry AS a
       SET models = r.models, vectors = r.vectors
      FROM (SELECT b.id, COALESCE(array_agg(v.model ORDER BY v.place) FILTER (WHERE v.model <> %(model)s), '{}') AS models,
                   COALESCE(array_agg(v.vector ORDER BY v.place) FILTER (WHERE v.model <> %(model)s), '{}') AS vectors
              FROM (SELECT id, models, vectors FROM mnestic.archived_entry
                     WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND %(model)s = ANY(models)
                     ORDER BY id LIMIT %(limit)s) AS b
             CROSS JOIN LATERAL unnest(b.models, b.vectors) WITH ORDINALITY AS v (model, vector, place)
             GROUP BY b.id) AS r
     WHERE a.tenant_id = %(tenant_id)s AND a.agent_id = %(agent_id)s AND a.id = r.id
    RETURNING 1
)
SELECT count(*) AS removed FROM changed
""")
_NO_MORE_PREVIOUS = NamedQuery.of("""
UPDATE mnestic.corpus SET previous_model = NULL
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND previous_model = %(model)s
""")


class PostgresEmbeddingStore:
    """Implements `mnestic.memory.maintenance.embeddings.EmbeddingStore`."""

    def __init__(self, unit: UnitOfWork) -> None:
        self._unit = unit

    async def find(self) -> AgentEmbeddings | None:
        """See the port."""
        rows = await self._rows(_LIST, after="", limit=1)
        return AgentEmbeddings(**rows[0]._asdict()) if rows else None

    async def list_agents(
        self, *, limit: int = 100, cursor: str | None = None
    ) -> tuple[tuple[AgentEmbeddings, ...], str | None]:
        """See the port."""
        (after,) = decode_cursor(cursor, parts=1) if cursor is not None else ("",)
        values = {"agent_id": None, "after": after, "limit": check_limit(limit) + 1}
        rows = await self._rows(_LIST, **values)
        self._unit.read("embedding.list", "*")
        page = tuple(AgentEmbeddings(**row._asdict()) for row in rows[:limit])
        return page, encode_cursor(page[-1].agent_id) if len(rows) > limit else None

    async def count_lacking(self, model: str) -> Lacking:
        """See the port."""
        (row,) = await self._rows(_LACKING, model=model)
        return Lacking(row.entries, row.archived)

    async def list_unembedded_archived(self, model: str, *, limit: int) -> tuple[Unembedded, ...]:
        """See the port."""
        rows = await self._rows(_ARCHIVED, model=model, limit=check_limit(limit))
        return tuple(
            Unembedded(id=row.id, content=row.content, session_id=None, source_id=None)
            for row in rows
        )

    async def embed_archived(self, model: str, embeddings: Sequence[Embedding]) -> int:
        """See the port."""
        (row,) = await self._rows(
            _EMBED_ARCHIVED,
            model=model,
            ids=[one.entry_id for one in embeddings],
            contents=[one.content for one in embeddings],
            **reals_of([one.vector for one in embeddings]),
        )
        if row.embedded:
            self._unit.wrote("archive.embed", f"{model}: {row.embedded}")
        return int(row.embedded)

    async def sample(self, *, limit: int) -> tuple[SampledEntry, ...]:
        """See the port."""
        rows = await self._rows(_SAMPLE, limit=check_limit(limit))
        return tuple(SampledEntry(row.number, row.content) for row in rows)

    async def sample_index(self) -> IndexSample:
        """See the port."""
        values = {"tenant_id": self._unit.tenant_id, "indexed_from": INDEXED_FROM}
        ((row,),) = await self._unit.rows_of(_SAMPLE_INDEX.bind(values))
        return IndexSample.model_validate(row._asdict())

    async def is_indexed(self, model: str) -> bool:
        """See the port."""
        rows = await self._rows(_MODEL, model=model)
        if not rows or rows[0].dimensions is None:
            return False
        index = VectorIndex(self._unit.tenant_id, self._unit.agent_id, model, rows[0].dimensions)
        (row,) = await self._rows(_INDEX, name=index.name)
        return bool(row.is_there)

    async def list_nearest(
        self, model: str, vectors: Sequence[bytes], *, is_exact: bool = False
    ) -> tuple[tuple[int, ...], ...]:
        """See the port."""
        known = await self._rows(_MODEL, model=model)
        is_indexed = bool(known) and known[0].entries >= INDEXED_FROM and not is_exact
        await self._rows(_SETTINGS, ef_search=str(EF_SEARCH))
        found = []
        for vector in vectors:
            values = {"vectors": reals_of([vector])["vectors"], "is_indexed": is_indexed}
            (row,) = await self._rows(_NEAREST, model=model, most=NEAREST, **values)
            found.append(tuple(row.numbers or ()))
        return tuple(found)

    async def switch(self, model: str, *, now: datetime) -> Lacking:
        """See the port."""
        (row,) = await self._rows(_LOCK)
        lacking = await self.count_lacking(model)
        if not any(lacking) and row.active_model != model:
            await self._set(model, previous=row.active_model, rejected=None, now=now)
        return lacking

    async def switch_back(self, *, now: datetime) -> AgentEmbeddings:
        """See the port."""
        rows = await self._rows(_LOCK)
        if not rows or rows[0].previous_model is None:
            why = "has no earlier vectors to switch back to"
            raise InvalidInputError(what=f"agent {self._unit.agent_id}", why=why)
        row = rows[0]
        if row.rejected_model == row.previous_model:
            why = f"was switched back from {row.rejected_model} already; to have it tried again, run `mnestic embeddings accept`"
            raise InvalidInputError(what=f"agent {self._unit.agent_id}", why=why)
        await self._set(
            row.previous_model, previous=row.active_model, rejected=row.active_model, now=now
        )
        return await self._get()

    async def accept(self) -> AgentEmbeddings:
        """See the port."""
        rows = await self._rows(_LOCK)
        if not rows or rows[0].rejected_model is None:
            why = "was not switched back from a model"
            raise InvalidInputError(what=f"agent {self._unit.agent_id}", why=why)
        await self._unit.rows_of(_ACCEPT.bind(self._unit.owner))
        self._unit.wrote("embedding.accept", rows[0].rejected_model)
        return await self._get()

    async def remove_vectors(self, model: str, *, limit: int) -> int:
        """See the port."""
        (row,) = await self._rows(_LOCK)
        if row.active_model == model:
            raise InvalidInputError(what=f"model {model}", why="is active; its vectors stay")
        for query in (_REMOVE, _REMOVE_ARCHIVED):
            (done,) = await self._rows(query, model=model, limit=check_limit(limit))
            if done.removed:
                self._unit.wrote("embedding.remove", f"{model}: {done.removed}")
                return int(done.removed)
        await self._unit.rows_of(_NO_MORE_PREVIOUS.bind({**self._unit.owner, "model": model}))
        return 0

    async def _set(
        self, active: str, *, previous: str | None, rejected: str | None, now: datetime
    ) -> None:
        values = {"active": active, "previous": previous, "rejected": rejected, "now": now}
        await self._unit.rows_of(_SET.bind({**self._unit.owner, **values}))
        self._unit.wrote("embedding.switch", active)
        self._unit.changed()  # what searches have cached is of the other model

    async def _get(self) -> AgentEmbeddings:
        found = await self.find()
        assert found is not None, "the row is locked"
        return found

    async def _rows(self, query: NamedQuery, **values: Any) -> Sequence[Any]:
        (rows,) = await self._unit.rows_of(query.bind({**self._unit.owner, **values}))
        return rows
