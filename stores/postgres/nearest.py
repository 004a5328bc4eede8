"""The entries whose meaning is nearest: by the vectors that the process keeps, by all in Postgres, or by its index."""

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import text

from mnestic.memory.search import Search
from mnestic.stores.postgres.connections import Asked, array_of, written
from mnestic.stores.postgres.kept import Reading
from mnestic.stores.postgres.kept_vectors import KeptVectors
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
# All vectors in one row, as halfvec_send of pgvector writes them.
_VECTORS = """
SELECT array_agg(entry_number ORDER BY entry_number) AS numbers,
       string_agg(halfvec_send(vector), '' ORDER BY entry_number) AS vectors
  FROM mnestic.embedding
 WHERE tenant_id = :tenant_id AND agent_id = :agent_id AND model = :model AND {which}
"""
_THESE = text(_VECTORS.format(which="entry_number = ANY(CAST(:numbers AS bigint[]))"))
_ALL, _ALL_NARROW = (text(_VECTORS.format(which=one)) for one in ("true", "dimensions <= 1280"))


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
        """Has the process keep what it lacks, or all if it is worth it."""
        held, model = reading.vectors(search.model), {**self._unit.owner, "model": search.model}
        width = len(search.vector or b"") // 4
        if held is not None and (held.dimensions != width or held.lacks_most):
            held = None
        if search.fresh is None or (held is not None and not held.lacking):
            return  # the first because it could not be used
        if held is not None:
            these: Asked = _THESE, {**model, "numbers": array_of(held.lacking)}
        elif reading.may_keep_vectors(search.vectors, width):
            held = KeptVectors(width)
            these = (_ALL_NARROW if width <= _WIDEST_INDEXED else _ALL), model
        else:
            return
        ((row,),) = await self._unit.rows_of(these)
        read = _read(row, width)
        if read is None or not reading.is_current:
            return
        # What has no vector now, though it was not without one when that was counted, is gone, or is heard of yet.
        held.lacking = set(search.fresh)
        held.add(*read)
        reading.keep_vectors(search.model, held)


def _of_kept(reading: Reading, search: Search) -> dict[int, float] | None:
    """By the vectors that are kept; None where one may be missing."""
    held, vector = reading.vectors(search.model), np.frombuffer(search.vector or b"", dtype="<f4")
    if held is None or len(held) != search.vectors or len(vector) != held.dimensions:
        return None
    if search.fresh is None or held.lacking - search.fresh:
        return None  # what has come since is neither here nor compared by itself
    as_stored = vector.astype(np.float16).astype(np.float32)
    return held.nearest(as_stored, limit=search.pool)


def _read(row: Any, width: int) -> tuple[NDArray[np.int64], NDArray[np.float16]] | None:
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
