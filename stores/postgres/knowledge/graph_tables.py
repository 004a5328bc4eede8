"""The table of the graph."""

from datetime import datetime

from sqlalchemy import Double, Index
from sqlmodel import Field

from mnestic.stores.postgres.tables import Table, instant, maybe_instant, words


class GraphEdgeRow(Table, table=True):
    """An edge of the graph: the fact of its id, as a connection of two nodes. It follows the fact in the same transaction."""

    __tablename__ = "graph_edge"
    __table_args__ = (
        # serve list_edges; they begin with the name, so that only the primary key serves to look an edge up
        Index("graph_edge_by_source", "source_key", "agent_id", "tenant_id"),
        Index("graph_edge_by_target", "target_key", "agent_id", "tenant_id"),
    )

    agent_id: str = words(key=True)
    id: str = words(key=True)
    source: str = words()
    source_key: str = words()
    predicate: str = words()
    target: str = words()
    target_key: str = words()
    weight: float = Field(sa_type=Double)
    is_active: bool
    valid_from: datetime = instant()
    valid_to: datetime | None = maybe_instant()
