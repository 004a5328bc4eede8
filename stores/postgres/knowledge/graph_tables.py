"""The table of the graph."""

from datetime import datetime

from sqlalchemy import Double, Index
from sqlmodel import Field

from mnestic.stores.postgres.tables import Table, instant, maybe_instant, words


class GraphEdgeRow(Table, table=True):
    """An edge of the graph: the fact of its id, as a connection of two nodes. It follows the fact in the same transaction."""

    __tablename__ = "graph_edge"
    __table_args__ = (
        # serve list_edges
        Index("graph_edge_by_source", "tenant_id", "agent_id", "source_key"),
        Index("graph_edge_by_target", "tenant_id", "agent_id", "target_key"),
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
