"""Vectors of entries in Postgres, and which entries have none yet.

They stand apart from the entries because they are stored per model, and written later.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Row, text

from mnestic.stores.postgres.reals import reals_of
from mnestic.stores.postgres.unit_of_work import UnitOfWork

# How many entries have no vector of a model, and up to which number none lacks one as far as is known.
_MISSING = text("""
SELECT c.entries - COALESCE(m.entries, 0) AS missing, COALESCE(m.complete_to, 0) AS complete_to
  FROM mnestic.corpus AS c
  LEFT JOIN mnestic.embedding_model AS m
    ON m.tenant_id = c.tenant_id AND m.agent_id = c.agent_id AND m.model = :model
 WHERE c.tenant_id = :tenant_id AND c.agent_id = :agent_id
""")
_ACTIVE = text("""
SELECT active_model FROM mnestic.corpus WHERE tenant_id = :tenant_id AND agent_id = :agent_id
""")
_NEXT = text("""
SELECT e.id, e.content, e.session_id, e.source_id FROM mnestic.entry AS e
 WHERE e.tenant_id = :tenant_id AND e.agent_id = :agent_id AND e.number > :after
   AND NOT EXISTS (
       SELECT FROM mnestic.embedding AS v
        WHERE v.tenant_id = :tenant_id AND v.agent_id = :agent_id AND v.model = :model
          AND v.entry_number = e.number
       OFFSET 0  -- looks each up; else all vectors of the agent may be joined
   )
 ORDER BY e.number LIMIT :limit
""")
_ZERO = text("""
SELECT e.id, e.content, e.session_id, e.source_id FROM mnestic.embedding AS v
  JOIN mnestic.entry AS e
    ON e.tenant_id = :tenant_id AND e.agent_id = :agent_id AND e.number = v.entry_number
 WHERE v.tenant_id = :tenant_id AND v.agent_id = :agent_id AND v.model = :model AND l2_norm(v.vector) = 0
 ORDER BY e.number LIMIT :limit
""")
# The first model of an agent is its active one.
_KEEP = text("""
WITH pinned AS (
    UPDATE mnestic.corpus SET active_model = :model
     WHERE tenant_id = :tenant_id AND agent_id = :agent_id AND active_model IS NULL
    RETURNING 1
),
stored AS (
    INSERT INTO mnestic.embedding (tenant_id, agent_id, model, entry_number, dimensions, vector)
    SELECT :tenant_id, :agent_id, :model, number, :dimensions,
           CAST((CAST(:vectors AS real[]))[(place - 1) * :dimensions + 1 : place * :dimensions] AS halfvec)
      FROM unnest(CAST(:numbers AS bigint[])) WITH ORDINALITY AS _ (number, place)
     WHERE (SELECT count(*) FROM pinned) >= 0  -- which locks the row of `corpus` before that of `embedding_model`
    ON CONFLICT DO NOTHING
    RETURNING 1
)
INSERT INTO mnestic.embedding_model AS m (tenant_id, agent_id, model, entries, complete_to)
SELECT :tenant_id, :agent_id, :model, count(*), :complete_to FROM stored
ON CONFLICT (tenant_id, agent_id, model)
DO UPDATE SET entries = m.entries + excluded.entries,
              complete_to = greatest(m.complete_to, excluded.complete_to)
RETURNING (SELECT count(*) FROM stored) AS stored
""")
_FORGET = text("""
WITH gone AS (
    DELETE FROM mnestic.embedding
     WHERE tenant_id = :tenant_id AND agent_id = :agent_id AND entry_number = ANY(:numbers)
       AND (NOT :empty OR l2_norm(vector) = 0)
    RETURNING model
)
UPDATE mnestic.embedding_model AS m SET entries = m.entries - g.entries
  FROM (SELECT model, count(*) AS entries FROM gone GROUP BY model) AS g
 WHERE m.tenant_id = :tenant_id AND m.agent_id = :agent_id AND m.model = g.model
""")


class Vectors:
    """The vectors of an agent's entries."""

    def __init__(self, unit: UnitOfWork) -> None:
        self._unit = unit

    async def active_model(self) -> str | None:
        """The model whose vectors searches compare."""
        row = await self._unit.row(_ACTIVE, self._unit.owner)
        return None if row is None else row.active_model

    async def missing(self, model: str, *, limit: int) -> Sequence[Row[Any]]:
        """Entries, as far as embedding needs them, that have no vector of a model, the oldest first.

        Those up to `complete_to` come last, and are looked at only if those above it are not all that
        have none: they were committed late, or have changed.
        """
        parameters = {**self._unit.owner, "model": model}
        known = await self._unit.row(_MISSING, parameters)
        if known is None or not known.missing:
            return ()
        wanted = min(limit, known.missing)
        parameters |= {"limit": wanted}
        found = await self._unit.rows(_NEXT, {**parameters, "after": known.complete_to})
        if len(found) == wanted:
            return found
        return await self._unit.rows(_NEXT, {**parameters, "after": 0})

    async def zero(self, model: str, *, limit: int) -> Sequence[Row[Any]]:
        """Entries whose vector of a model is 0, the oldest first; all vectors of the agent are looked at."""
        return await self._unit.rows(_ZERO, {**self._unit.owner, "model": model, "limit": limit})

    async def keep(self, model: str, vectors: Mapping[int, bytes]) -> int:
        """Keeps vectors by the numbers of their entries, but none where one is; returns how many."""
        numbers = sorted(vectors)
        row = await self._unit.row(
            _KEEP,
            {
                **self._unit.owner,
                "model": model,
                "numbers": numbers,
                **reals_of([vectors[number] for number in numbers]),
                "complete_to": numbers[-1],
            },
        )
        assert row is not None
        return int(row.stored)

    async def forget(self, numbers: Sequence[int], *, empty: bool = False) -> None:
        """Removes the vectors of entries, whatever the model; or the vectors 0 alone."""
        parameters = {"numbers": list(numbers), "empty": empty}
        await self._unit.run(_FORGET, {**self._unit.owner, **parameters})
