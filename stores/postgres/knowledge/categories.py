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
from mnestic.stores.postgres.queries import read_query
from mnestic.stores.postgres.stored import read_stored
from mnestic.stores.postgres.unit_of_work import UnitOfWork

_LOCK, _READ = read_query("categories.lock"), read_query("read_categories")
_PUT, _REWRITE = read_query("categories.put"), read_query("categories.rewrite")
_LIST_LOCAL = read_query("categories.list_local")
_COUNT_LOCAL = read_query("categories.count_local")


class PostgresCategoryStore:
    """Implements `mnestic.memory.knowledge.world.categories.CategoryStore`."""

    def __init__(self, unit: UnitOfWork) -> None:
        self._unit = unit

    async def lock(self) -> None:
        """See the port."""
        await self._unit.write(_LOCK, names=sorted(CATEGORIES))

    async def read(self, now: datetime, *, with_facts: bool = False) -> tuple[StoredCategory, ...]:
        """See the port."""
        rows = await self._unit.fetch(
            _READ, names=sorted(CATEGORIES), now=now, limit=MOST_FACTS, with_facts=with_facts
        )
        self._unit.read("category.list", "*")
        return tuple(
            read_stored(
                StoredCategory,
                row._asdict() | {"facts": from_json(row.facts)},
                what=f"category {row.name}",
            )
            for row in rows
        )

    async def put(self, summaries: Mapping[Category, str], *, at: datetime) -> None:
        """See the port."""
        names, texts = [*summaries], [*summaries.values()]
        await self._unit.write(_PUT, names=names, summaries=texts, at=at)
        self._unit.wrote("category.put", " ".join(names))

    async def rewrite(self, category: StoredCategory, summary: str, *, model: str) -> bool:
        """See the port."""
        before = category.summary
        rewritten = await self._unit.write(
            _REWRITE, name=category.name, before=before, summary=summary, model=model
        )
        if rewritten:
            self._unit.wrote("category.put", category.name)
        return bool(rewritten)

    async def list_local(
        self, agent_id: str | None, *, without: Collection[str] = (), limit: int
    ) -> LocalSummaries:
        """See the port."""
        rows = await self._unit.fetch(
            _LIST_LOCAL, of_agent=agent_id, without=sorted(without), limit=limit
        )
        return LocalSummaries(tuple(row.agent_id for row in rows), rows[0].agents if rows else 0)

    async def count_without_model(self, agent_id: str | None) -> int:
        """See the port."""
        (row,) = await self._unit.fetch(_COUNT_LOCAL, of_agent=agent_id)
        return int(row.summaries)
