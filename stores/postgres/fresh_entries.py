"""Entries that have no vector yet, in Postgres, and whether another has come since they were counted.

They stand apart from the search, since they are read before it: their vectors are made with the question's.
"""

from sqlalchemy import text

from mnestic.memory.search import Fresh, FreshEntry, Known
from mnestic.stores.postgres.unit import Unit

_MINE = "tenant_id = :tenant_id AND agent_id = :agent_id"
# The time, and how often what searches read has changed.
COUNT = text(f"""
SELECT now() AS now,
       COALESCE((SELECT knowledge FROM mnestic.agent_revision WHERE {_MINE}), 0) AS knowledge
""")  # noqa: S608 - a constant of this module
_BARE = """
SELECT e.number, e.content FROM mnestic.entry AS e
 WHERE e.tenant_id = :tenant_id AND e.agent_id = :agent_id
   AND NOT EXISTS (
       SELECT FROM mnestic.embedding AS v
        WHERE v.tenant_id = :tenant_id AND v.agent_id = :agent_id AND v.model = :model
          AND v.entry_number = e.number
       OFFSET 0
   )
"""
# Those up to `complete_to` are looked at only if those above it are not all; in one statement, as others write on.
_FRESH = text(f"""
WITH behind AS MATERIALIZED (
    SELECT c.entries - COALESCE(m.entries, 0) AS missing, COALESCE(m.complete_to, 0) AS complete_to
      FROM mnestic.corpus AS c
      LEFT JOIN mnestic.embedding_model AS m
        ON m.tenant_id = c.tenant_id AND m.agent_id = c.agent_id AND m.model = :model
     WHERE c.tenant_id = :tenant_id AND c.agent_id = :agent_id
),
above AS MATERIALIZED (
    {_BARE} AND e.number > (SELECT complete_to FROM behind) ORDER BY e.number DESC LIMIT :limit
)
SELECT number, content FROM (
SELECT number, content FROM above
UNION ALL
({_BARE} AND e.number <= (SELECT complete_to FROM behind)
    AND (SELECT count(*) FROM above) < (SELECT least(missing, :limit) FROM behind)
  ORDER BY e.number DESC LIMIT :limit)
) AS bare ORDER BY number DESC LIMIT :limit
""")  # noqa: S608 - constants of this module


async def list_fresh(unit: Unit, model: str, known: Known, *, limit: int) -> Fresh:
    """See `mnestic.memory.retrieval_ports.SearchStore.list_fresh`."""
    if known.bare <= 0:
        return Fresh()
    asked = {**unit.owner, "model": model, "limit": limit}
    rows, (now,) = await unit.rows_of((_FRESH, asked), (COUNT, unit.owner))
    entries = tuple(FreshEntry(row.number, row.content) for row in rows)
    is_settled = now.knowledge == known.knowledge and len(entries) == known.bare
    return Fresh(entries, is_settled)
