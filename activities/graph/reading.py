"""Reads a part of the graph: the edges around a name, from one node to the next."""

from collections.abc import Iterable
from datetime import datetime

from mnestic.activities.knowledge.subjects import find_subjects
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.graph.graph import DEEPEST, MOST_EDGES, Graph, Node, StoredEdge
from mnestic.memory.ports import Transaction


async def read_graph(
    transaction: Transaction,
    name: str | None,
    *,
    depth: int = 1,
    at: datetime | None = None,
    limit: int = 100,
) -> Graph:
    """The edges around a name, or the heaviest of all.

    Args:
        transaction: It reads.
        name: Where to begin, however it is written; None for the whole graph.
        depth: How many edges away from it, 1 to 5.
        at: When the edges are valid, aware; None for what holds now.
        limit: How many edges at most, up to 1000; the nearest first, of equally near ones the heaviest.

    Raises:
        InvalidInputError: the name means several, or an argument is out of range.
    """
    if not 1 <= depth <= DEEPEST:
        raise InvalidInputError(what="depth", why=f"is {depth}; it has to be 1 to {DEEPEST}")
    if not 1 <= limit <= MOST_EDGES:
        raise InvalidInputError(what="limit", why=f"is {limit}; it has to be 1 to {MOST_EDGES}")
    if at is not None and at.utcoffset() is None:
        raise InvalidInputError(what="at", why="has no offset; say in which zone it is")
    store = transaction.facts.graph
    if name is None:
        return _graph(await store.list_edges(None, at=at, limit=limit + 1), limit=limit)
    found: dict[str, StoredEdge] = {}
    reached: set[str] = set()
    frontier = set(await find_subjects(transaction, name))
    for _ in range(depth):
        # Of those that were found already, each may come again.
        edges = await store.list_edges(frontier, at=at, limit=len(found) + limit + 1)
        found |= {one.edge.id: one for one in edges if one.edge.id not in found}
        reached |= frontier
        frontier = {key for one in edges for key in (one.edge.source, one.edge.target)} - reached
        if not frontier or len(found) > limit:
            break
    return _graph(found.values(), limit=limit)


def _graph(found: Iterable[StoredEdge], *, limit: int) -> Graph:
    edges = [*found]
    shown = edges[:limit]
    names: dict[str, str] = {}
    for one in shown:
        names.setdefault(one.edge.source, one.source_name)
        names.setdefault(one.edge.target, one.target_name)
    return Graph(
        nodes=tuple(Node(key=key, name=name) for key, name in names.items()),
        edges=tuple(one.edge for one in shown),
        is_cut=len(edges) > limit,
    )
