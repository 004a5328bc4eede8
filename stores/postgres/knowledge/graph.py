"""The graph in Postgres. `DerivedEntries` refreshes the edges of facts that change."""

from collections.abc import Collection
from datetime import datetime

from mnestic.memory.errors import InvariantError
from mnestic.memory.graph.graph import Edge, StoredEdge
from mnestic.stores.postgres.cursors import check_limit
from mnestic.stores.postgres.knowledge.derived_entries import (
    ADD_CORPUS,
    LOCK_CORPUS,
)
from mnestic.stores.postgres.queries import read_query
from mnestic.stores.postgres.unit_of_work import UnitOfWork

_READ, _REBUILD = read_query("read_edges"), read_query("rebuild_graph")
_COUNT = read_query("graph.count")


class PostgresGraphStore:
    """Implements `mnestic.memory.graph.graph.GraphStore`."""

    def __init__(self, unit: UnitOfWork) -> None:
        self._unit = unit

    async def list_edges(
        self, keys: Collection[str] | None, *, at: datetime | None, limit: int
    ) -> tuple[StoredEdge, ...]:
        """See the port."""
        nodes = None if keys is None else sorted(keys)
        rows = await self._unit.fetch(_READ, keys=nodes, at=at, limit=check_limit(limit))
        self._unit.read("graph.list", "*" if nodes is None else " ".join(nodes))
        return tuple(
            StoredEdge(
                Edge(
                    id=row.id,
                    source=row.source_key,
                    predicate=row.predicate,
                    target=row.target_key,
                    weight=row.weight,
                    valid_from=row.valid_from,
                    valid_to=row.valid_to,
                ),
                row.source,
                row.target,
            )
            for row in rows
        )

    async def rebuild(self) -> int:
        """See the port."""
        owner = self._unit.owner
        *_, (refreshed,), (counted,) = await self._unit.rows_of(
            ADD_CORPUS.bind(owner),
            LOCK_CORPUS.bind(owner),
            _REBUILD.bind(owner),
            _COUNT.bind(owner),
        )
        if counted.edges != counted.facts:
            whose = f"the graph of agent {self._unit.agent_id}"
            raise InvariantError(f"{whose} has {counted.edges} edges for {counted.facts} facts")
        if refreshed.changed:
            self._unit.wrote("graph.rebuild", f"{refreshed.changed} edges")
        return int(refreshed.changed)
