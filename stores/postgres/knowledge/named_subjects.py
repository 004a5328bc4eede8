"""The subjects of facts by their names, in Postgres."""

from collections.abc import Collection

from sqlalchemy import text

from mnestic.memory.knowledge.claims import name_key
from mnestic.memory.knowledge.predicates import NAMING
from mnestic.memory.knowledge.subjects import NamedSubject
from mnestic.stores.postgres.unit_of_work import UnitOfWork

_MINE = "tenant_id = :tenant_id AND agent_id = :agent_id"
_NAMES = f"{_MINE} AND status = 'active' AND predicate IN {NAMING}"
_BEGINS = "left({0}, length(:key) + 1) = :key || ' '"
# An alias of an entry is another name of the one that it is about.
_NAMED = text(f"""
SELECT 'is' AS by, subject_key AS key, max(subject) AS subject FROM mnestic.fact
 WHERE {_MINE} AND subject_key = :key GROUP BY subject_key
UNION ALL
SELECT 'alias', subject_key, max(subject) FROM mnestic.fact
 WHERE {_NAMES} AND object_key = :key GROUP BY subject_key
UNION ALL
SELECT 'alias', NULL, e.subjects ->> 0 FROM mnestic.entry_term AS t
  JOIN mnestic.entry AS e ON e.tenant_id = t.tenant_id AND e.agent_id = t.agent_id
   AND e.number = t.entry_number
 WHERE t.tenant_id = :tenant_id AND t.agent_id = :agent_id AND t.kind = 'alias' AND t.term = :key
   AND e.status = 'active' AND jsonb_array_length(e.subjects) = 1
 GROUP BY e.subjects ->> 0
UNION ALL
SELECT 'first', subject_key, max(subject) FROM mnestic.fact
 WHERE {_MINE} AND {_BEGINS.format("subject_key")} GROUP BY subject_key
UNION ALL
SELECT 'first', subject_key, max(subject) FROM mnestic.fact
 WHERE {_NAMES} AND {_BEGINS.format("object_key")} GROUP BY subject_key
""")  # noqa: S608 - constants of this module
_OWN_NAMES = text(f"""
SELECT DISTINCT object_key FROM mnestic.fact AS f
 WHERE {_NAMES} AND subject_key = ANY(CAST(:keys AS text[])) AND NOT EXISTS (
       SELECT FROM mnestic.fact AS other
        WHERE {_NAMES} AND other.object_key = f.object_key
          AND other.subject_key <> ALL(CAST(:keys AS text[])))
 ORDER BY object_key
""")  # noqa: S608


async def list_named(unit: UnitOfWork, name: str) -> tuple[NamedSubject, ...]:
    """See `mnestic.memory.knowledge.ports.FactStore.list_named`."""
    rows = await unit.rows(_NAMED, {**unit.owner, "key": name_key(name)})
    return tuple(
        NamedSubject(by=row.by, key=row.key or name_key(row.subject), subject=row.subject)
        for row in rows
    )


async def list_aliases(unit: UnitOfWork, keys: Collection[str]) -> tuple[str, ...]:
    """See `mnestic.memory.knowledge.ports.FactStore.list_aliases`."""
    rows = await unit.rows(_OWN_NAMES, {**unit.owner, "keys": sorted(keys)})
    return tuple(row.object_key for row in rows)
