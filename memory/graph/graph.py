"""The graph of an agent's facts: weighted edges from what a fact is about to what it says, and the nodes that these join.

An edge is stored for each fact that holds or held, and follows it: whatever changes a fact changes its edge in the same
transaction. A node has no row of its own, since it is there as long as an edge ends in it.
"""

from collections.abc import Collection
from datetime import datetime
from typing import NamedTuple, Protocol

from pydantic import AwareDatetime, ConfigDict

from mnestic.memory.deferred_model import DeferredModel

DEEPEST = 5
MOST_EDGES = 1000


class Node(DeferredModel):
    """A name that facts are about or say; `key` is how it is compared, and is unique."""

    model_config = ConfigDict(frozen=True)

    key: str
    name: str


class Edge(DeferredModel):
    """A fact as a connection of two nodes, which `source` and `target` are the keys of; `id` is that of the fact.

    `weight` is its confidence, decayed if it has decayed, times the binary logarithm of 1 + the claims that state it:
    with one claim the confidence itself, with three twice that.
    """

    model_config = ConfigDict(frozen=True)

    id: str
    source: str
    predicate: str
    target: str
    weight: float
    valid_from: AwareDatetime
    valid_to: AwareDatetime | None = None


class Graph(DeferredModel):
    """Edges, the heaviest of the nearest first, and the nodes that they join.

    `is_cut` says that there are more edges than the limit.
    """

    model_config = ConfigDict(frozen=True)

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    is_cut: bool = False


class StoredEdge(NamedTuple):
    """An edge with the names of its nodes."""

    edge: Edge
    source_name: str
    target_name: str


class GraphStore(Protocol):
    """The edges of an agent's graph."""

    async def list_edges(
        self, keys: Collection[str] | None, *, at: datetime | None, limit: int
    ) -> tuple[StoredEdge, ...]:
        """Edges, the heaviest first.

        Args:
            keys: Of nodes, in one of which they end; None for all edges.
            at: When they are valid; None for the active facts' that hold now.
            limit: How many at most.
        """
        ...

    async def rebuild(self) -> int:
        """Compares all edges with the facts, and mends those that differ; returns how many did.

        Raises:
            InvariantError: there are not as many edges afterwards as facts that should have one.
        """
        ...
