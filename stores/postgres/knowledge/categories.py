"""The stored summaries of categories in Postgres. `DerivedEntries` clears them when a fact changes."""

from collections.abc import Collection, Mapping
from datetime import datetime

from pydantic_core import from_json

from mnestic.memory.knowledge.predicates import Category
from mnestic.memory.knowledge.world.categories import (
    CATEGORIES,
    MOST_FACTS,
    LocalSummaries,
    StoredCategory,
)
from mnestic.stores.postgres.queries import NamedQuery, read_query
from mnestic.stores.postgres.stored import read_stored
from mnestic.stores.postgres.unit_of_work import UnitOfWork

# Rows are made for categories that have none, so that a transaction which changes a fact waits for this one in any case.
_LOCK = NamedQuery.of("""
INSERT INTO mnestic.category AS c (tenant_id, agent_id, name, updated_at)
SELECT %(tenant_id)s, %(agent_id)s, name, now() FROM unnest(CAST(%(names)s AS text[])) AS known (name)
 WHERE EXISTS (SELECT FROM mnestic.fact
                WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND category = known.name AND status = 'active' OFFSET 0)
    OR EXISTS (SELECT FROM mnestic.category
                WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND name = known.name OFFSET 0)
 ORDER BY name
    ON CONFLICT (tenant_id, agent_id, name) DO UPDATE SET summary = c.summary
""")
_READ = read_query("read_categories")
_PUT = NamedQuery.of("""
UPDATE mnestic.category AS c SET summary = written.summary, model = NULL, updated_at = CAST(%(at)s AS timestamptz)
  FROM unnest(CAST(%(names)s AS text[]), CAST(%(summaries)s AS text[])) AS written (name, summary)
 WHERE c.tenant_id = %(tenant_id)s AND c.agent_id = %(agent_id)s AND c.name = written.name
""")

# A fact that has changed meanwhile has cleared the summary.
_REWRITE = NamedQuery.of("""
UPDATE mnestic.category SET summary = %(summary)s, model = %(model)s
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND name = %(name)s AND summary = %(before)s AND model IS NULL
RETURNING name
""")
_LOCAL = NamedQuery.of("""
SELECT agent_id, count(*) OVER () AS agents FROM mnestic.category
 WHERE tenant_id = %(tenant_id)s AND (CAST(%(of_agent)s AS text) IS NULL OR agent_id = %(of_agent)s) AND summary <> '' AND model IS NULL
   AND agent_id <> ALL (CAST(%(without)s AS text[]))
 GROUP BY agent_id ORDER BY min(updated_at), agent_id LIMIT %(limit)s
""")

# A summary that is cleared is written from the facts in the night, before a model is asked.
_COUNT_LOCAL = NamedQuery.of("""
SELECT count(*) AS summaries FROM mnestic.category AS c
 WHERE tenant_id = %(tenant_id)s AND (CAST(%(of_agent)s AS text) IS NULL OR agent_id = %(of_agent)s) AND model IS NULL
   AND (summary <> '' OR summary IS NULL AND EXISTS (
        SELECT FROM mnestic.fact AS f
         WHERE f.tenant_id = c.tenant_id AND f.agent_id = c.agent_id AND f.category = c.name AND f.status = 'active' OFFSET 0))
""")


class PostgresCategoryStore:
    """Implements `mnestic.memory.knowledge.world.categories.CategoryStore`."""

    def __init__(self, unit: UnitOfWork) -> None:
        self._unit = unit

    async def lock(self) -> None:
        """See the port."""
        await self._unit.rows_of(_LOCK.bind({**self._unit.owner, "names": sorted(CATEGORIES)}))

    async def read(self, now: datetime, *, with_facts: bool = False) -> tuple[StoredCategory, ...]:
        """See the port."""
        values = {
            **self._unit.owner,
            "names": sorted(CATEGORIES),
            "now": now,
            "limit": MOST_FACTS,
            "with_facts": with_facts,
        }
        (rows,) = await self._unit.rows_of(_READ.bind(values))
        self._unit.read("category.list", "*")
        return tuple(
            read_stored(
                StoredCategory,
                {
                    "name": row.name,
                    "summary": row.summary,
                    "model": row.model,
                    "updated_at": row.updated_at,
                    "facts": from_json(row.facts),
                },
                what=f"category {row.name}",
            )
            for row in rows
        )

    async def put(self, summaries: Mapping[Category, str], *, at: datetime) -> None:
        """See the port."""
        names, texts = [*summaries], [*summaries.values()]
        values = {**self._unit.owner, "names": names, "summaries": texts, "at": at}
        await self._unit.rows_of(_PUT.bind(values))
        self._unit.wrote("category.put", " ".join(names))

    async def rewrite(self, category: StoredCategory, summary: str, *, model: str) -> bool:
        """See the port."""
        values = {"name": category.name, "before": category.summary}
        written = {**self._unit.owner, **values, "summary": summary, "model": model}
        (rows,) = await self._unit.rows_of(_REWRITE.bind(written))
        if rows:
            self._unit.wrote("category.put", category.name)
        return bool(rows)

    async def list_local(
        self, agent_id: str | None, *, without: Collection[str] = (), limit: int
    ) -> LocalSummaries:
        """See the port."""
        values = {
            "tenant_id": self._unit.tenant_id,
            "of_agent": agent_id,
            "without": sorted(without),
            "limit": limit,
        }
        (rows,) = await self._unit.rows_of(_LOCAL.bind(values))
        return LocalSummaries(tuple(row.agent_id for row in rows), rows[0].agents if rows else 0)

    async def count_without_model(self, agent_id: str | None) -> int:
        """See the port."""
        values = {"tenant_id": self._unit.tenant_id, "of_agent": agent_id}
        ((row,),) = await self._unit.rows_of(_COUNT_LOCAL.bind(values))
        return int(row.summaries)
