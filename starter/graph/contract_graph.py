"""The operations of a contract on the graph, as methods of `ContractMemory`."""

from abc import ABC, abstractmethod
from datetime import datetime
from typing import Any, TypeVar

from pydantic import BaseModel

from mnestic.memory.graph.graph import (
    Direction,
    Edge,
    EndedParts,
    Graph,
    GraphPaths,
    GraphRows,
    Node,
)
from mnestic.memory.jobs.memory_operations import OperationName

Result = TypeVar("Result", bound=BaseModel)


class ContractGraph(ABC):
    """Nodes and edges that the contract declares, in one graph with the edges of facts.

    Each method raises `InvalidInputError` where the contract has no such type, property or query, or has no graph.
    """

    @abstractmethod
    async def _do(self, name: OperationName, result_type: type[Result], **arguments: Any) -> Result:
        """Does an operation by its name."""

    async def upsert_node(
        self, node_type: str, node_id: str, properties: dict[str, Any] | None = None
    ) -> Node:
        """Writes a node; its properties take the place of those that it had.

        Raises:
            KeptOutError: it speaks of what was forgotten and is kept out.
        """
        arguments = {"node_type": node_type, "node_id": node_id, "properties": properties or {}}
        return await self._do("upsert_node", Node, **arguments)

    async def upsert_edge(
        self, edge_type: str, *, source: str, target: str, properties: dict[str, Any] | None = None
    ) -> Edge:
        """Writes an edge between two nodes, which are there; a type has one edge between them.

        Raises:
            KeptOutError: it speaks of what was forgotten and is kept out.
        """
        ends = {"source": source, "target": target}
        return await self._do(
            "upsert_edge", Edge, edge_type=edge_type, properties=properties or {}, **ends
        )

    async def delete_node(self, node_id: str) -> EndedParts:
        """Ends a node, with its edges; the graph as it was before has them."""
        return await self._do("delete_node", EndedParts, node_id=node_id)

    async def delete_edge(self, edge_type: str, *, source: str, target: str) -> EndedParts:
        """Ends an edge; the graph as it was before has it."""
        return await self._do(
            "delete_edge", EndedParts, edge_type=edge_type, source=source, target=target
        )

    async def neighbours(
        self,
        node_id: str,
        *,
        edge_type: str | None = None,
        direction: Direction = "both",
        at: datetime | None = None,
        limit: int = 100,
    ) -> Graph:
        """The edges that begin or end in a node: of a type, of one direction, as they were then."""
        some = {"edge_type": edge_type, "direction": direction, "at": at, "limit": limit}
        return await self._do("neighbours", Graph, node_id=node_id, **some)

    async def paths(
        self,
        source: str,
        target: str,
        *,
        max_length: int = 5,
        at: datetime | None = None,
        limit: int = 10,
    ) -> GraphPaths:
        """The shortest paths between two nodes; edges count in both directions."""
        some = {"max_length": max_length, "at": at, "limit": limit}
        return await self._do("paths", GraphPaths, source=source, target=target, **some)

    async def subgraph(
        self,
        node_id: str | None = None,
        *,
        depth: int = 1,
        at: datetime | None = None,
        limit: int = 100,
    ) -> Graph:
        """What is around a node, the nearest edges first; without one, the heaviest edges of all."""
        return await self._do("subgraph", Graph, node_id=node_id, depth=depth, at=at, limit=limit)

    async def query_graph(
        self, query_id: str, parameters: dict[str, Any] | None = None, *, limit: int = 1000
    ) -> GraphRows:
        """Runs a query of the contract, with a value for each of its parameters, on the graph as it is."""
        arguments = {"query_id": query_id, "parameters": parameters or {}, "limit": limit}
        return await self._do("query_graph", GraphRows, **arguments)
