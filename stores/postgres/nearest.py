"""The entries whose meaning is nearest: by the vectors that the process keeps, by all in Postgres, or by its index."""

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import text

from mnestic.memory.search import Search
from mnestic.stores.postgres.connections import Asked, array_of, written
from mnestic.stores.postgres.kept_vectors import KeptVectors, Read
from mnestic.stores.postgres.reading import Reading
from mnestic.stores.postgres.search_filters import Filter, statement_of
from mnestic.stores.postgres.unit import NOTHING, Unit
from mnestic.stores.postgres.vector_indexes import (
    INDEXED_FROM,
    VectorIndex,
    indexed_distance,
    of_index,
    searched,
)

_WIDEST_INDEXED = 1280  # dimensions; see the index embedding_exact

_BY_MEANING = """
WITH {allowed} nearest AS (
    SELECT entry_number AS number, - (vector <#> CAST(:vector AS halfvec)) AS score
      FROM mnestic.embedding
     WHERE tenant_id = :tenant_id AND agent_id = :agent_id AND model = :model {width} {where}
     ORDER BY vector <#> CAST(:vector AS halfvec) LIMIT :limit
)
SELECT number, score FROM nearest ORDER BY score DESC, number DESC
"""
# Of a large memory, by its index; see `vector_indexes`. The values of its condition are written out.
_BY_INDEX = """
WITH nearest AS (
    SELECT entry_number AS number, - ({distance}) AS score FROM mnestic.embedding
     WHERE {condition} ORDER BY {distance} LIMIT :limit
)
SELECT number, score FROM nearest ORDER BY score DESC, number DESC
"""
_SEARCHED = text("SELECT set_config('hnsw.ef_search', :searched, true)")
# Vectors in one row, as halfvec_send of pgvector writes them.
_VECTORS = """
SELECT array_agg(entry_number ORDER BY entry_number) AS numbers,
       string_agg(halfvec_send(vector), '' ORDER BY entry_number) AS vectors
  FROM (SELECT entry_number, vector FROM mnestic.embedding
         WHERE tenant_id = :tenant_id AND agent_id = :agent_id AND model = :model AND {which}) AS these
"""
_THESE = text(_VECTORS.format(which="entry_number = ANY(CAST(:numbers AS bigint[]))"))
_NEXT = "entry_number > :read_to {width} ORDER BY entry_number LIMIT :piece"
_NEXT_WIDE = text(_VECTORS.format(which=_NEXT.format(width="")))
_NEXT_NARROW = text(
    _VECTORS.format(which=_NEXT.format(width=f"AND dimensions <= {_WIDEST_INDEXED}"))
)


class Nearest:
    """The entries whose vectors have the largest cosine with that of a question.

    An agent that is asked again has all of its vectors kept by the process, if they are few enough.
    """

    def __init__(self, unit: Unit, reading: Reading | None) -> None:
        """Prepares it.

        Args:
            unit: Where Postgres is asked.
            reading: What the process keeps of the agent, if that may be used.
        """
        self._unit, self._reading = unit, reading

    def recall(self, search: Search) -> dict[int, float] | None:
        """By the vectors that are kept; None where they are not all of them, or others are asked for."""
        if search.vector is None:
            return {}
        if self._reading is None or Filter.of(search).is_narrow:
            return None
        near = _of_kept(self._reading, search)
        self._reading.count_search(found=near is not None)
        return near

    async def find(self, search: Search) -> dict[int, float]:
        """By those that are kept, once they are complete, or else by Postgres."""
        if search.vector is None:
            return {}
        if self._reading is not None and not Filter.of(search).is_narrow:
            await self._complete(search, self._reading)
            if (near := _of_kept(self._reading, search)) is not None:
                return near
        _, rows = await self._unit.rows_of(*_by_meaning(self._unit, search))
        return dict(rows)

    async def _complete(self, search: Search, reading: Reading) -> None:
        """Has the process keep what it lacks, and the next piece of what it has not read yet, if it is worth it."""
        held, width = reading.vectors(search.model), len(search.vector or b"") // 4
        if held is not None and (held.dimensions != width or held.lacks_most):
            held = None
        if search.fresh is None or (held is not None and held.is_whole):
            return  # the first because it could not be used
        if held is None:
            if not reading.may_keep_vectors(search.vectors, width):
                return
            held = reading.new_vectors(search.vectors, width)
        read_to = held.read_to
        lacked, following = await self._unit.rows_of(
            self._these(search, held), self._next(search, held)
        )
        these, piece = (_read(rows[0], width) if rows else None for rows in (lacked, following))
        is_of_another = (lacked and these is None) or (following and piece is None)
        if is_of_another or not reading.is_current or held.read_to != read_to:
            return  # some are of another length, or somebody else was told or has read the same meanwhile
        held.complete(these, piece, bare=search.fresh)
        reading.keep_vectors(search.model, held)

    def _these(self, search: Search, held: KeptVectors) -> Asked:
        """What asks for those that are lacking."""
        if not held.lacking:
            return NOTHING
        numbers = {"numbers": array_of(held.lacking)}
        return _THESE, {**self._unit.owner, "model": search.model, **numbers}

    def _next(self, search: Search, held: KeptVectors) -> Asked:
        """What asks for the next piece of those that have not been read."""
        if held.read_to is None:
            return NOTHING
        statement = _NEXT_NARROW if held.dimensions <= _WIDEST_INDEXED else _NEXT_WIDE
        piece = {"read_to": held.read_to, "piece": held.piece}
        return statement, {**self._unit.owner, "model": search.model, **piece}


def _of_kept(reading: Reading, search: Search) -> dict[int, float] | None:
    """By the vectors that are kept; None where one may be missing."""
    held, vector = reading.vectors(search.model), as_kept(search.vector or b"")
    if held is None or len(held) != search.vectors or len(vector) != held.dimensions:
        return None
    if search.fresh is None or held.read_to is not None or held.lacking - search.fresh:
        return None  # what has come since is neither here nor compared by itself
    return held.nearest(vector, limit=search.pool)


def as_kept(vector: bytes) -> NDArray[np.float16]:
    """A vector as Postgres compares it."""
    return np.frombuffer(vector, dtype="<f4").astype(np.float16)


def _read(row: Any, width: int) -> Read | None:
    """The vectors of a row by the numbers of their entries; None if some are of another length."""
    kind = np.dtype([("width", ">i2"), ("unused", ">i2"), ("values", ">f2", (width,))])
    numbers = np.array(row.numbers or (), dtype=np.int64)
    if len(row.vectors or b"") != len(numbers) * kind.itemsize:
        return None
    vectors = np.frombuffer(row.vectors or b"", dtype=kind)
    if (vectors["width"] != width).any():
        return None
    return numbers, vectors["values"].astype(np.float16)


def _by_meaning(unit: Unit, search: Search) -> tuple[Asked, Asked]:
    """What Postgres is asked, and what before that."""
    numbers = np.frombuffer(search.vector or b"", dtype="<f4")
    narrow = Filter.of(search)
    values = {"vector": _literal(numbers), "limit": search.pool}
    gone_through = searched(search.vectors) if search.vectors >= INDEXED_FROM else 0
    if search.pool <= gone_through and not narrow.is_narrow:
        index = VectorIndex(unit.tenant_id, unit.agent_id, search.model, len(numbers))
        return (_SEARCHED, {"searched": str(gone_through)}), (_of_large(index), values)
    width = "AND dimensions <= 1280" if len(numbers) <= _WIDEST_INDEXED else ""
    statement = statement_of(
        _BY_MEANING.format(
            allowed=narrow.allowed, where=narrow.within("AND entry_number"), width=width
        )
    )
    asked = {**unit.owner, **narrow.values, **values, "model": search.model}
    return NOTHING, (statement, asked)


@lru_cache(1000)
def _of_large(index: VectorIndex) -> str:
    """The statement that uses an index, as psycopg takes it."""
    distance = indexed_distance(index.dimensions)
    statement = written(text(_BY_INDEX.format(distance=distance, condition="[condition]")))
    return statement.replace("[condition]", of_index(index).replace("%", "%%"))


def _literal(numbers: "np.ndarray[Any, np.dtype[np.float32]]") -> str:
    return "[" + ",".join(f"{number:.6g}" for number in numbers.tolist()) + "]"
