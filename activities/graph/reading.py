"""Reads a part of the graph: the edges around a name, from one node to the next, and the shortest paths between two."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import islice

from mnestic.activities.knowledge.subjects import find_subjects
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.graph.graph import (
    DEEPEST,
    MOST_EDGES,
    Direction,
    Graph,
    GraphPaths,
    Node,
    StoredEdge,
)
from mnestic.memory.ports import Transaction

_MOST_SEARCHED = 20_000  # edges in which paths are looked for
_Steps = dict[str, list[tuple[StoredEdge, str]]]


async def read_graph(
    transaction: Transaction,
    name: str | None,
    *,
    depth: int = 1,
    at: datetime | None = None,
    limit: int = 100,
    predicate: str | None = None,
    direction: Direction = "both",
) -> Graph:
    """The edges around a name, or the heaviest of all.

    Args:
        transaction: It reads.
        name: Where to begin, however it is written; None for the whole graph.
        depth: How many edges away from it, 1 to 5.
        at: When the edges are valid, aware; None for what holds now.
        limit: How many edges at most, up to 1000; the nearest first, of equally near ones the heaviest.
        predicate: Of the edges; None for all.
        direction: Whether edges are followed from source to target, from target to source, or both.

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
        edges = await store.list_edges(None, at=at, limit=limit + 1)
        return await _graph(transaction, edges, at=at, limit=limit)
    found: dict[str, StoredEdge] = {}
    reached: set[str] = set()
    start = frontier = set(await find_subjects(transaction, name))
    for _ in range(depth):
        # Of those that were found already, each may come again.
        edges = await store.list_edges(
            frontier,
            at=at,
            limit=len(found) + limit + 1,
            predicate=predicate,
            direction=direction,
        )
        found |= {one.edge.id: one for one in edges if one.edge.id not in found}
        reached |= frontier
        frontier = {key for one in edges for key in (one.edge.source, one.edge.target)} - reached
        if not frontier or len(found) > limit:
            break
    return await _graph(transaction, found.values(), at=at, limit=limit, start=start)


async def read_paths(
    transaction: Transaction,
    source: str,
    target: str,
    *,
    max_length: int,
    at: datetime | None,
    limit: int,
) -> GraphPaths:
    """The shortest paths between two nodes, along edges in both directions, in so many of the nearest edges.

    Raises:
        InvalidInputError: a name means several.
    """
    frontier = set(await find_subjects(transaction, source))
    ends = set(await find_subjects(transaction, target))
    reached, steps, left = set(frontier), _Steps(), _MOST_SEARCHED
    while frontier and not frontier & ends and max_length and left > 0:
        edges = await transaction.facts.graph.list_edges(frontier, at=at, limit=left)
        left, max_length = left - len(edges), max_length - 1
        new: _Steps = defaultdict(list)
        for one in edges:
            pair = (one.edge.source, one.edge.target)
            for near, far in (pair, pair[::-1]):
                if near in frontier and far not in reached:
                    new[far].append((one, near))
        steps |= new
        frontier = set(new)
        reached |= frontier
    found = [path for end in sorted(frontier & ends) for path in _paths(steps, end, most=limit + 1)]
    on_them = {one.edge.id: one for path in found[:limit] for one in path}
    graph = await _graph(transaction, on_them.values(), at=at, limit=len(on_them), start=ends)
    return GraphPaths(
        nodes=graph.nodes,
        edges=graph.edges,
        is_cut=len(found) > limit or left <= 0,
        paths=tuple(tuple(one.edge.id for one in path) for path in found[:limit]),
    )


def _paths(steps: _Steps, end: str, *, most: int) -> list[list[StoredEdge]]:
    """The ways from a node that was reached back to the start, each in the order of its edges."""

    def ways(key: str) -> Iterator[list[StoredEdge]]:
        if key not in steps:
            yield []
        for edge, near in steps.get(key, ()):
            for way in ways(near):
                yield [*way, edge]

    return [*islice(ways(end), most)]


async def _graph(
    transaction: Transaction,
    found: Iterable[StoredEdge],
    *,
    at: datetime | None,
    limit: int,
    start: Iterable[str] = (),
) -> Graph:
    """Edges with the nodes that they join, and those of the start that were declared."""
    edges = [*found]
    shown = edges[:limit]
    names: dict[str, str] = {}
    for one in shown:
        names.setdefault(one.edge.source, one.source_name)
        names.setdefault(one.edge.target, one.target_name)
    declared = await transaction.facts.graph.list_nodes({*names, *start}, at=at)
    nodes = {key: Node(key=key, name=name) for key, name in names.items()} | declared
    return Graph(
        nodes=tuple(nodes.values()),
        edges=tuple(one.edge for one in shown),
        is_cut=len(edges) > limit,
    )
