"""The graph of an agent: edges that follow from facts, nodes and edges that are declared, and how both are stored.

An edge is stored for each fact that holds or held, and follows it: whatever changes a fact changes its edge in the same
transaction. A name that only facts have is a node as long as an edge ends in it. Declared nodes and edges are those of the
contract; a declared node of the name that facts have is the same node.
"""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any, Literal, NamedTuple, Protocol

from pydantic import AwareDatetime, ConfigDict, Field

from mnestic.memory.deferred_model import DeferredModel

DEEPEST = 5
MOST_EDGES = 1000
LARGEST_PROPERTIES_BYTES = 65_536  # of a node or an edge, as canonical JSON
NAME = "Name"  # the type of nodes that nobody declared
Direction = Literal["out", "in", "both"]


class Node(DeferredModel):
    """A name that facts are about or say, or a declared node; `key` is how the name is compared, and is unique."""

    model_config = ConfigDict(frozen=True)

    key: str
    name: str
    type: str = NAME
    properties: dict[str, Any] = Field(default_factory=dict)


class Edge(DeferredModel):
    """A connection of two nodes, which `source` and `target` are the keys of.

    That of a fact has the fact's id and predicate. Its `weight` is the fact's confidence, decayed if it has decayed, times the
    binary logarithm of 1 + the claims that state it: with one claim the confidence itself, with three twice that. A declared
    edge has its type for a predicate, the weight 1 and, alone, properties.
    """

    model_config = ConfigDict(frozen=True)

    id: str
    source: str
    predicate: str
    target: str
    weight: float
    valid_from: AwareDatetime
    valid_to: AwareDatetime | None = None
    properties: dict[str, Any] | None = None


class Graph(DeferredModel):
    """Edges, the heaviest of the nearest first, and the nodes that they join.

    `is_cut` says that there are more edges than the limit.
    """

    model_config = ConfigDict(frozen=True)

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    is_cut: bool = False


class GraphPaths(Graph):
    """The shortest paths between two nodes, each as the ids of its edges, and what is on them.

    `is_cut` says that there are more, or that the search ended before it reached the target.
    """

    paths: tuple[tuple[str, ...], ...] = ()


class GraphRows(Graph):
    """What a query of the contract returns: columns, rows, and the nodes and edges in these.

    In a row, a node is an object with its `id`, `type` and properties, an edge one with `source`, `target` and `type`.
    """

    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Any, ...], ...] = ()


class EndedParts(DeferredModel):
    """How many nodes and edges a deletion has ended; the graph of an earlier moment still has them."""

    model_config = ConfigDict(frozen=True)

    nodes: int = 0
    edges: int = 0


class StoredEdge(NamedTuple):
    """An edge with the names of its nodes."""

    edge: Edge
    source_name: str
    target_name: str


class LoadedPart(NamedTuple):
    """A declared node, or an edge, as it is stored; a node has an id neither as an edge nor of a target. Times are texts in UTC."""

    id: str | None
    source_key: str
    source: str
    type: str
    target_key: str | None
    target: str | None
    weight: float | None
    valid_from: str
    valid_to: str | None
    properties: dict[str, Any] | None


class LoadedGraph(NamedTuple):
    """A graph as an engine takes it: what holds at a moment, by a revision, and until when no part of it begins or ends by itself."""

    revision: int
    at: datetime
    until: datetime | None
    parts: Sequence[LoadedPart]


class GraphStore(Protocol):
    """The nodes and edges of an agent's graph."""

    async def list_edges(
        self,
        keys: Collection[str] | None,
        *,
        at: datetime | None,
        limit: int,
        predicate: str | None = None,
        direction: Direction = "both",
    ) -> tuple[StoredEdge, ...]:
        """Edges, the heaviest first.

        Args:
            keys: Of nodes, in one of which they end; None for all edges.
            at: When they are valid; None for the active facts' that hold now.
            limit: How many at most.
            predicate: Of edges of facts, or the type of declared ones.
            direction: Whether they begin or end in the nodes.
        """
        ...

    async def list_nodes(
        self, keys: Collection[str], *, at: datetime | None = None
    ) -> dict[str, Node]:
        """Declared nodes of some keys by their keys, as they were at a moment or are."""
        ...

    async def lock(self) -> None:
        """Locks the graph against other writers until the end of the transaction."""
        ...

    async def put_node(self, node: Node) -> None:
        """Begins a version of a declared node, which ends the one before it."""
        ...

    async def find_edge(self, source: str, predicate: str, target: str) -> Edge | None:
        """The declared edge of a type between two nodes, as keys, that holds."""
        ...

    async def put_edge(
        self,
        source: Node,
        target: Node,
        *,
        predicate: str,
        properties: dict[str, Any],
        edge_id: str,
    ) -> Edge:
        """Begins a version of a declared edge, which ends the one before it; returns it as it is stored."""
        ...

    async def end_node(self, key: str) -> EndedParts:
        """Ends a declared node and all declared edges that end in it."""
        ...

    async def end_edge(self, source: str, predicate: str, target: str) -> EndedParts:
        """Ends a declared edge of a type between two nodes, as keys."""
        ...

    async def revision(self) -> tuple[int, datetime]:
        """How often the graph has changed, and the time by the database's clock."""
        ...

    async def load(self) -> LoadedGraph:
        """All nodes and edges that hold, for a query of the contract."""
        ...

    async def rebuild(self) -> int:
        """Compares all edges with the facts, and mends those that differ; returns how many did.

        Raises:
            InvariantError: there are not as many edges afterwards as facts that should have one.
        """
        ...
