"""The graph in Postgres. `DerivedEntries` refreshes the edges of facts that change."""

from collections.abc import Collection
from datetime import datetime
from typing import Any

from mnestic.memory.errors import InvariantError
from mnestic.memory.graph.graph import (
    Direction,
    Edge,
    EndedParts,
    LoadedGraph,
    LoadedPart,
    Node,
    StoredEdge,
)
from mnestic.stores.postgres.knowledge.derived_entries import (
    ADD_CORPUS,
    LOCK_CORPUS,
)
from mnestic.stores.postgres.queries import as_json, read_query
from mnestic.stores.postgres.unit_of_work import UnitOfWork

_READ, _REBUILD = read_query("read_edges"), read_query("rebuild_graph")
_COUNT, _NODES, _LOAD = (
    read_query("graph.count"),
    read_query("graph.nodes"),
    read_query("graph.load"),
)
_PUT_NODE, _END_NODE = read_query("graph.put_node"), read_query("graph.end_node")
_FIND_EDGE, _ADD_EDGE = read_query("graph.find_edge"), read_query("graph.add_edge")
_END_EDGES, _REVISION = read_query("graph.end_edges"), read_query("graph.revision")

_LONGEST_SHOWN = 1000  # characters of keys in the audit log


class PostgresGraphStore:
    """Implements `mnestic.memory.graph.graph.GraphStore`."""

    def __init__(self, unit: UnitOfWork) -> None:
        self._unit = unit

    async def list_edges(
        self,
        keys: Collection[str] | None,
        *,
        at: datetime | None,
        limit: int,
        predicate: str | None = None,
        direction: Direction = "both",
    ) -> tuple[StoredEdge, ...]:
        """See the port."""
        nodes = None if keys is None else sorted(keys)
        rows = await self._unit.fetch(
            _READ,
            keys=nodes,
            at=at,
            limit=limit,
            predicate=predicate,
            direction=direction,
        )
        self._unit.read("graph.list", "*" if nodes is None else " ".join(nodes)[:_LONGEST_SHOWN])
        return tuple(StoredEdge(_edge(row), row.source, row.target) for row in rows)

    async def list_nodes(
        self, keys: Collection[str], *, at: datetime | None = None
    ) -> dict[str, Node]:
        """See the port."""
        rows = await self._unit.fetch(_NODES, keys=sorted(keys), at=at) if keys else ()
        return {row.key: Node(**row._asdict()) for row in rows}

    async def lock(self) -> None:
        """See the port."""
        owner = self._unit.owner
        await self._unit.rows_of(ADD_CORPUS.bind(owner), LOCK_CORPUS.bind(owner))

    async def put_node(self, node: Node) -> None:
        """See the port."""
        values = node.model_dump(include={"key", "name", "type"})
        await self._unit.write(_PUT_NODE, **values, properties=as_json(node.properties))
        self._wrote("graph.put", node.key)

    async def find_edge(self, source: str, predicate: str, target: str) -> Edge | None:
        """See the port."""
        row = await self._unit.fetch_one(
            _FIND_EDGE, source=source, predicate=predicate, target=target
        )
        return None if row is None else _edge(row)

    async def put_edge(
        self,
        source: Node,
        target: Node,
        *,
        predicate: str,
        properties: dict[str, Any],
        edge_id: str,
    ) -> Edge:
        """See the port."""
        await self.end_edge(source.key, predicate, target.key)
        (row,) = await self._unit.fetch(
            _ADD_EDGE,
            id=edge_id,
            source=source.key,
            source_name=source.name,
            predicate=predicate,
            target=target.key,
            target_name=target.name,
            properties=as_json(properties),
        )
        self._wrote("graph.put", f"{source.key}/{target.key}")
        return _edge(row)

    async def end_node(self, key: str) -> EndedParts:
        """See the port."""
        nodes = await self._unit.write(_END_NODE, key=key)
        edges = await self._unit.write(_END_EDGES, source=key, target=key, predicate=None)
        if nodes or edges:
            self._wrote("graph.end", key)
        return EndedParts(nodes=nodes, edges=edges)

    async def end_edge(self, source: str, predicate: str, target: str) -> EndedParts:
        """See the port."""
        edges = await self._unit.write(
            _END_EDGES, source=source, predicate=predicate, target=target
        )
        if edges:
            self._wrote("graph.end", f"{source}/{target}")
        return EndedParts(edges=edges)

    async def revision(self) -> tuple[int, datetime]:
        """See the port."""
        (row,) = await self._unit.fetch(_REVISION)
        return int(row.revision), row.at

    async def load(self) -> LoadedGraph:
        """See the port."""
        rows = await self._unit.fetch(_LOAD)
        self._unit.read("graph.load", "*")
        first = rows[0]
        parts = [LoadedPart(*row[3:]) for row in rows if row.source_key is not None]
        return LoadedGraph(int(first.revision), first.at, first.until, parts)

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
            self._wrote("graph.rebuild", f"{refreshed.changed} edges")
        return int(refreshed.changed)

    def _wrote(self, action: str, target: str) -> None:
        self._unit.wrote(action, target)
        self._unit.changed_graph()


def _edge(row: Any) -> Edge:
    return Edge(
        id=row.id,
        source=row.source_key,
        predicate=row.predicate,
        target=row.target_key,
        weight=row.weight,
        valid_from=row.valid_from,
        valid_to=row.valid_to,
        properties=row.properties,
    )
