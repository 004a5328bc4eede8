"""Where the nodes of a graph stand in a drawing: those with an edge near each other, none on another.

It is pure: the same graph gives the same drawing.
"""

import math
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from mnestic.memory.graph.graph import Graph

WIDTH, HEIGHT = 1000.0, 640.0
_MARGIN_X, _MARGIN_Y = 90.0, 36.0
_ROUNDS = 150
_FIRST_STEP = 0.1
_LEAST = 1e-4  # a distance that is not zero
_LONGEST_LABEL = 24  # characters
_ROOMY = 25  # nodes that the smallest box has room for
_COLOURS = 8
Points = npt.NDArray[np.float64]


class DrawnNode(NamedTuple):
    """A node: its place, its radius, and its name as far as it fits."""

    name: str
    label: str
    x: float
    y: float
    radius: float
    kind: int


class DrawnEdge(NamedTuple):
    """An edge from the rim of its source to the rim of its target."""

    id: str
    title: str
    predicate: str
    kind: int
    x1: float
    y1: float
    x2: float
    y2: float
    width: float
    label_at: tuple[float, float]


class Drawing(NamedTuple):
    """All of a graph, in a box that grows with the nodes; `predicates` and `types` have the number of each one's colour."""

    nodes: tuple[DrawnNode, ...]
    edges: tuple[DrawnEdge, ...]
    predicates: dict[str, int]
    types: dict[str, int]
    width: float = WIDTH
    height: float = HEIGHT


def draw(graph: Graph) -> Drawing:
    """The drawing of a graph."""
    places = {node.key: index for index, node in enumerate(graph.nodes)}
    pairs = [(places[edge.source], places[edge.target]) for edge in graph.edges]
    scale = max(1.0, math.sqrt(len(places) / _ROOMY))
    width, height = WIDTH * scale, HEIGHT * scale
    points = _in_box(_arrange(len(places), pairs), width=width, height=height)
    predicates = _numbered(edge.predicate for edge in graph.edges)
    types = _numbered(node.type for node in graph.nodes)
    degrees = np.bincount(np.array(pairs, dtype=int).reshape(-1), minlength=len(places))
    nodes = tuple(
        DrawnNode(
            name=node.name,
            label=_label(node.name),
            x=float(x),
            y=float(y),
            radius=6 + 2 * math.sqrt(degree),
            kind=types[node.type],
        )
        for node, (x, y), degree in zip(graph.nodes, points, degrees, strict=True)
    )
    edges, between = list[DrawnEdge](), Counter[frozenset[int]]()
    for edge, (source, target) in zip(graph.edges, pairs, strict=True):
        start, end = nodes[source], nodes[target]
        length = math.hypot(end.x - start.x, end.y - start.y) or 1.0
        between[frozenset((source, target))] += 1
        share = 0.38 + 0.12 * between[frozenset((source, target))]  # so that no label hides another
        along = ((end.x - start.x) / length, (end.y - start.y) / length)
        edges.append(
            DrawnEdge(
                id=edge.id,
                title=f"{start.name} {edge.predicate.replace('_', ' ')} {end.name}",
                predicate=edge.predicate.replace("_", " "),
                kind=predicates[edge.predicate],
                x1=start.x + along[0] * start.radius,
                y1=start.y + along[1] * start.radius,
                x2=end.x - along[0] * (end.radius + 4),
                y2=end.y - along[1] * (end.radius + 4),
                width=min(4.0, 0.75 + edge.weight),
                label_at=(
                    start.x + (end.x - start.x) * share,
                    start.y + (end.y - start.y) * share,
                ),
            )
        )
    return Drawing(nodes, tuple(edges), predicates, types, width, height)


def _numbered(names: Iterable[str]) -> dict[str, int]:
    """A colour for each name, the most frequent first; the last one is of all that there are no more for."""
    frequent = Counter(sorted(names)).most_common()
    return {name: min(number, _COLOURS - 1) for number, (name, _) in enumerate(frequent)}


def _arrange(count: int, pairs: list[tuple[int, int]]) -> Points:
    """Places of nodes, by forces: all push each other apart, and edges pull.

    Source: Fruchterman, Reingold, Graph Drawing by Force-directed Placement (1991).
    """
    angles = np.arange(count) * (math.pi * (3 - math.sqrt(5)))  # a sunflower, so that none coincide
    radii = np.sqrt((np.arange(count) + 0.5) / max(count, 1)) / 2
    points: Points = np.stack([np.cos(angles) * radii, np.sin(angles) * radii], axis=1)
    ideal = 1 / math.sqrt(max(count, 1))
    sources = np.array([source for source, _ in pairs], dtype=int)
    targets = np.array([target for _, target in pairs], dtype=int)
    for step in np.linspace(_FIRST_STEP, 0.002, _ROUNDS):
        lengths = np.einsum("ij,ij->i", points, points)
        squares = lengths[:, None] + lengths[None] - 2 * (points @ points.T)
        pushes = ideal**2 / np.maximum(squares, _LEAST**2)
        np.fill_diagonal(pushes, 0)
        forces = points * pushes.sum(axis=1, keepdims=True) - pushes @ points
        pulls = points[sources] - points[targets]
        pulls *= np.linalg.norm(pulls, axis=1, keepdims=True) / ideal
        np.subtract.at(forces, sources, pulls)
        np.add.at(forces, targets, pulls)
        forces -= points * ideal  # what has no edge to the rest stays in the picture
        sizes = np.maximum(np.linalg.norm(forces, axis=1, keepdims=True), _LEAST)
        points = points + forces / sizes * np.minimum(sizes, step)
    return points


def _in_box(points: Points, *, width: float, height: float) -> Points:
    """The places, scaled to the box."""
    if not len(points):
        return points
    low, high = points.min(axis=0), points.max(axis=0)
    span = np.maximum(high - low, _LEAST)
    inner = np.array([width - 2 * _MARGIN_X, height - 2 * _MARGIN_Y])
    share = np.where(high - low > _LEAST, (points - low) / span, 0.5)
    placed: Points = np.round(share * inner + np.array([_MARGIN_X, _MARGIN_Y]), 1)
    return placed


def _label(name: str) -> str:
    return name if len(name) <= _LONGEST_LABEL else f"{name[: _LONGEST_LABEL - 1]}…"
