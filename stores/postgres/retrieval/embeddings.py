"""Embeddings of an agent in Postgres: the models of its vectors, and the switch from one to another."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from mnestic.memory.errors import InvalidInputError
from mnestic.memory.knowledge.entries import Embedding, Unembedded
from mnestic.memory.maintenance.embeddings import (
    NEAREST,
    AgentEmbeddings,
    MissingVectors,
    SampledEntry,
)
from mnestic.memory.maintenance.integrity import IndexSample
from mnestic.stores.postgres.cursors import check_limit, decode_cursor, encode_cursor
from mnestic.stores.postgres.knowledge.vectors import EF_SEARCH, INDEXED_FROM
from mnestic.stores.postgres.queries import read_query
from mnestic.stores.postgres.reals import reals_of
from mnestic.stores.postgres.retrieval.vector_indexes import WIDEST, VectorIndex
from mnestic.stores.postgres.unit_of_work import UnitOfWork

_SAMPLE_INDEX = read_query("sample_index")
_LIST = read_query("embeddings.list")
_LIST_CORPORA = read_query("embeddings.list_corpora")
_LACKING = read_query("embeddings.count_lacking")
_ARCHIVED = read_query("embeddings.list_archived")
_EMBED_ARCHIVED = read_query("embeddings.embed_archived")
_EMBEDDED, _RENEW = read_query("embeddings.list_embedded"), read_query("embeddings.renew")
_SAMPLE = read_query("embeddings.sample")
_MODEL = read_query("embeddings.find_model")
_INDEX = read_query("embeddings.is_indexed")
_NEAREST = read_query("embeddings.list_nearest")
_SETTINGS = read_query("embeddings.set_search")
_LOCK = read_query("embeddings.lock")
_SET = read_query("embeddings.switch")
_ACCEPT = read_query("embeddings.accept")
_REMOVE = read_query("embeddings.remove")
_REMOVE_ARCHIVED = read_query("embeddings.remove_archived")
_NO_MORE_PREVIOUS = read_query("embeddings.forget_previous")


class PostgresEmbeddingStore:
    """Implements `mnestic.memory.maintenance.embeddings.EmbeddingStore`."""

    def __init__(self, unit: UnitOfWork) -> None:
        self._unit = unit

    async def find(self) -> AgentEmbeddings | None:
        """See the port."""
        rows = await self._unit.fetch(_LIST, of_agent=self._unit.agent_id, after="", limit=1)
        return AgentEmbeddings(**rows[0]._asdict()) if rows else None

    async def list_agents(
        self, *, limit: int = 100, cursor: str | None = None
    ) -> tuple[tuple[AgentEmbeddings, ...], str | None]:
        """See the port."""
        (after,) = decode_cursor(cursor, parts=1) if cursor is not None else ("",)
        rows = await self._unit.fetch(
            _LIST, of_agent=None, after=after, limit=check_limit(limit) + 1
        )
        self._unit.read("embedding.list", "*")
        page = tuple(AgentEmbeddings(**row._asdict()) for row in rows[:limit])
        return page, encode_cursor(page[-1].agent_id) if len(rows) > limit else None

    async def list_corpora(self) -> tuple[str, ...]:
        """See the port."""
        return tuple(row.corpus for row in await self._unit.fetch(_LIST_CORPORA))

    async def count_missing(self, model: str) -> MissingVectors:
        """See the port."""
        (row,) = await self._unit.fetch(_LACKING, model=model)
        return MissingVectors(row.entries, row.archived)

    async def list_unembedded_archived(self, model: str, *, limit: int) -> tuple[Unembedded, ...]:
        """See the port."""
        rows = await self._unit.fetch(_ARCHIVED, model=model, limit=check_limit(limit))
        return tuple(map(_unembedded, rows))

    async def list_embedded(self, model: str, *, after: str, limit: int) -> tuple[Unembedded, ...]:
        """See the port."""
        of = {"model": model, "after": after, "limit": check_limit(limit)}
        return tuple(map(_unembedded, await self._unit.fetch(_EMBEDDED, **of)))

    async def embed_archived(self, model: str, embeddings: Sequence[Embedding]) -> int:
        """See the port."""
        (row,) = await self._unit.fetch(_EMBED_ARCHIVED, model=model, **_columns(embeddings))
        if row.embedded:
            self._unit.wrote("archive.embed", f"{model}: {row.embedded}")
        return int(row.embedded)

    async def renew(self, model: str, embeddings: Sequence[Embedding]) -> int:
        """See the port."""
        (row,) = await self._unit.fetch(_RENEW, model=model, **_columns(embeddings))
        if row.renewed:
            self._unit.wrote("entry.embed", f"{model}: {row.renewed}")
        return int(row.renewed)

    async def sample(self, *, limit: int) -> tuple[SampledEntry, ...]:
        """See the port."""
        rows = await self._unit.fetch(_SAMPLE, limit=check_limit(limit))
        return tuple(SampledEntry(row.number, row.content) for row in rows)

    async def sample_index(self) -> IndexSample:
        """See the port."""
        (row,) = await self._unit.fetch(_SAMPLE_INDEX, indexed_from=INDEXED_FROM)
        return IndexSample.model_validate(row._asdict())

    async def is_indexed(self, model: str) -> bool:
        """See the port."""
        rows = await self._unit.fetch(_MODEL, model=model)
        if not rows or rows[0].dimensions is None:
            return False
        index = VectorIndex(self._unit.tenant_id, self._unit.agent_id, model, rows[0].dimensions)
        (row,) = await self._unit.fetch(_INDEX, name=index.name)
        return bool(row.is_there)

    async def lacks_index(self, model: str) -> bool:
        """See the port."""
        rows = await self._unit.fetch(_MODEL, model=model)
        is_large = bool(rows) and rows[0].entries >= INDEXED_FROM
        if not is_large or (rows[0].dimensions or WIDEST + 1) > WIDEST:
            return False
        return not await self.is_indexed(model)

    async def list_nearest(
        self, model: str, vectors: Sequence[bytes], *, is_exact: bool = False
    ) -> tuple[tuple[int, ...], ...]:
        """See the port."""
        known = await self._unit.fetch(_MODEL, model=model)
        is_indexed = bool(known) and known[0].entries >= INDEXED_FROM and not is_exact
        await self._unit.fetch(_SETTINGS, ef_search=str(EF_SEARCH))
        found = []
        for vector in vectors:
            values = {"vectors": reals_of([vector])["vectors"], "is_indexed": is_indexed}
            (row,) = await self._unit.fetch(_NEAREST, model=model, most=NEAREST, **values)
            found.append(tuple(row.numbers or ()))
        return tuple(found)

    async def switch(self, model: str, *, now: datetime) -> MissingVectors:
        """See the port."""
        (row,) = await self._unit.fetch(_LOCK)
        lacking = await self.count_missing(model)
        if not any(lacking) and row.active_model != model:
            await self._set(model, previous=row.active_model, rejected=None, now=now)
        return lacking

    async def switch_back(self, *, now: datetime) -> AgentEmbeddings:
        """See the port."""
        rows = await self._unit.fetch(_LOCK)
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
        rows = await self._unit.fetch(_LOCK)
        if not rows or rows[0].rejected_model is None:
            why = "was not switched back from a model"
            raise InvalidInputError(what=f"agent {self._unit.agent_id}", why=why)
        await self._unit.write(_ACCEPT)
        self._unit.wrote("embedding.accept", rows[0].rejected_model)
        return await self._get()

    async def remove_vectors(self, model: str, *, limit: int) -> int:
        """See the port."""
        (row,) = await self._unit.fetch(_LOCK)
        if row.active_model == model:
            raise InvalidInputError(what=f"model {model}", why="is active; its vectors stay")
        for query in (_REMOVE, _REMOVE_ARCHIVED):
            (done,) = await self._unit.fetch(query, model=model, limit=check_limit(limit))
            if done.removed:
                self._unit.wrote("embedding.remove", f"{model}: {done.removed}")
                return int(done.removed)
        await self._unit.write(_NO_MORE_PREVIOUS, model=model)
        return 0

    async def _set(
        self, active: str, *, previous: str | None, rejected: str | None, now: datetime
    ) -> None:
        await self._unit.write(_SET, active=active, previous=previous, rejected=rejected, now=now)
        self._unit.wrote("embedding.switch", active)
        self._unit.changed()  # what searches have cached is of the other model

    async def _get(self) -> AgentEmbeddings:
        found = await self.find()
        assert found is not None, "the row is locked"
        return found


def _unembedded(row: Any) -> Unembedded:
    return Unembedded(id=row.id, content=row.content, session_id=None, source_id=None)


def _columns(embeddings: Sequence[Embedding]) -> dict[str, Any]:
    return {
        "ids": [one.entry_id for one in embeddings],
        "contents": [one.content for one in embeddings],
        **reals_of([one.vector for one in embeddings]),
    }
