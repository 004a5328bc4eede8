"""Edges are found by name with indexes that begin with the name, so that only the primary key serves to look an edge up.

While the statistics are those of an empty table, all indexes that begin with tenant and agent seem equally good, and one of
these has read all edges of an agent for each edge.

Revision ID: 0032
Revises: 0031
"""

from alembic import op

revision = "0032"
down_revision = "0031"
branch_labels = None
depends_on = None

INDEXES = """
DROP INDEX mnestic.graph_edge_by_source;
DROP INDEX mnestic.graph_edge_by_target;
CREATE INDEX graph_edge_by_source ON mnestic.graph_edge (source_key, agent_id, tenant_id);
CREATE INDEX graph_edge_by_target ON mnestic.graph_edge (target_key, agent_id, tenant_id);
"""


def upgrade() -> None:
    op.execute(INDEXES)
