"""What the operations of a contract on the graph are given."""

from typing import Annotated, Any

from pydantic import AwareDatetime, Field

from mnestic.memory.graph.graph import DEEPEST, MOST_EDGES, Direction
from mnestic.memory.operation_arguments import OperationArguments
from mnestic.memory.scope import Id
from mnestic.memory.validation import Name

MOST_ROWS = 10_000
LONGEST_PATH = 10

NodeId = Annotated[
    Name, Field(description="The node, however its id is written", examples=["order-77"])
]
EdgeTypeName = Annotated[
    Name,
    Field(description="A type of edges of the contract, or a predicate", examples=["DEPENDS_ON"]),
]
Properties = Annotated[
    dict[str, Any],
    Field(description="Its properties, by the names that the contract has", examples=[{}]),
]
At = Annotated[
    AwareDatetime | None, Field(description="The graph as it was then; by default as it is")
]
Edges = Annotated[int, Field(ge=1, le=MOST_EDGES, strict=True, description="How many at the most")]


class GraphArguments(OperationArguments):
    """What an operation on the graph is given."""


class DeleteNodeArguments(GraphArguments):
    """A node to end."""

    node_id: NodeId


class UpsertNodeArguments(DeleteNodeArguments):
    """A node to write."""

    node_type: Id = Field(description="A type of nodes of the contract", examples=["Task"])
    properties: Properties = Field(default_factory=dict)


class DeleteEdgeArguments(GraphArguments):
    """An edge to end."""

    edge_type: EdgeTypeName
    source: NodeId
    target: NodeId


class UpsertEdgeArguments(DeleteEdgeArguments):
    """An edge to write."""

    properties: Properties = Field(default_factory=dict)


class NeighboursArguments(GraphArguments):
    """A node whose edges are read."""

    node_id: NodeId
    edge_type: Name | None = Field(None, description="A type of edges, or a predicate")
    direction: Direction = Field("both", description="Edges that begin in it, end in it, or both")
    at: At = None
    limit: Edges = 100


class PathsArguments(GraphArguments):
    """Two nodes between which paths are read; edges count in both directions."""

    source: NodeId
    target: NodeId
    max_length: int = Field(
        5, ge=1, le=LONGEST_PATH, strict=True, description="How many edges a path has at the most"
    )
    at: At = None
    limit: int = Field(10, ge=1, le=100, strict=True, description="How many paths at the most")


class SubgraphArguments(GraphArguments):
    """A part of the graph to read."""

    node_id: Name | None = Field(None, description="The node; by default the heaviest edges")
    depth: int = Field(
        1, ge=1, le=DEEPEST, strict=True, description="How many edges away from the node"
    )
    at: At = None
    limit: Edges = 100


class QueryGraphArguments(GraphArguments):
    """A query of the contract to run."""

    query_id: Id = Field(description="A query of the contract", examples=["blockers"])
    parameters: dict[str, Any] = Field({}, description="A value for each $name of the query")
    limit: int = Field(
        1000, ge=1, le=MOST_ROWS, strict=True, description="How many rows at the most"
    )
