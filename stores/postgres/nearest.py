"""The entries whose meaning is nearest: all vectors of an agent are looked at, or its index is."""

from functools import lru_cache
from typing import Any

import numpy as np
from sqlalchemy import text

from mnestic.memory.search import Search
from mnestic.stores.postgres.connections import Asked, written
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


def by_meaning(unit: Unit, search: Search) -> tuple[Asked, Asked]:
    """The entries whose vectors have the largest cosine, and what is to be asked before."""
    if search.vector is None:
        return NOTHING, NOTHING
    numbers = np.frombuffer(search.vector, dtype="<f4")
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
