"""The graph of facts: an edge for each fact that holds or held, which follows the fact.

Revision ID: 0028
Revises: 0027
"""

from alembic import op

revision = "0028"
down_revision = "0027"
branch_labels = None
depends_on = None

EDGES = """
CREATE TABLE mnestic.graph_edge (
    tenant_id text NOT NULL,
    agent_id text NOT NULL,
    id text NOT NULL,
    source text NOT NULL,
    source_key text NOT NULL,
    predicate text NOT NULL,
    target text NOT NULL,
    target_key text NOT NULL,
    weight double precision NOT NULL,
    is_active boolean NOT NULL,
    valid_from timestamptz NOT NULL,
    valid_to timestamptz,
    PRIMARY KEY (tenant_id, agent_id, id)
);
ALTER TABLE mnestic.graph_edge ALTER COLUMN tenant_id SET (n_distinct = 10), ALTER COLUMN agent_id SET (n_distinct = 10);
"""
# Nothing of this schema's version is called, so the weight is computed as it is at this version.
OF_FACTS = """
ALTER TABLE mnestic.fact NO FORCE ROW LEVEL SECURITY;  -- else its owner sees no row
ALTER TABLE mnestic.claim NO FORCE ROW LEVEL SECURITY;
INSERT INTO mnestic.graph_edge
SELECT tenant_id, agent_id, id, subject, subject_key, predicate, object, object_key,
       CAST(round(CAST(COALESCE(decayed_confidence, confidence) * ln(1 + GREATEST(1, (
            SELECT count(*) FROM mnestic.claim AS c
             WHERE c.tenant_id = f.tenant_id AND c.agent_id = f.agent_id AND c.kind IN ('affirmed', 'corrected', 'reactivated')
               AND c.id = ANY(ARRAY(SELECT jsonb_array_elements_text(f.claims)))))) / ln(2) AS numeric), 4) AS float8),
       status = 'active', valid_from, valid_to
  FROM mnestic.fact AS f WHERE status <> 'deleted' AND (valid_to IS NULL OR valid_to > valid_from);
ALTER TABLE mnestic.fact FORCE ROW LEVEL SECURITY;
ALTER TABLE mnestic.claim FORCE ROW LEVEL SECURITY;
"""
INDEXES_AND_WALL = """
CREATE INDEX graph_edge_by_source ON mnestic.graph_edge (tenant_id, agent_id, source_key);
CREATE INDEX graph_edge_by_target ON mnestic.graph_edge (tenant_id, agent_id, target_key);
GRANT SELECT, INSERT, UPDATE, DELETE ON mnestic.graph_edge TO mnestic_app;
ALTER TABLE mnestic.graph_edge ENABLE ROW LEVEL SECURITY;
ALTER TABLE mnestic.graph_edge FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON mnestic.graph_edge
 USING (tenant_id = current_setting('mnestic.tenant_id', true))
 WITH CHECK (tenant_id = current_setting('mnestic.tenant_id', true));
"""


def upgrade() -> None:
    op.execute(EDGES)
    op.execute(OF_FACTS)
    op.execute(INDEXES_AND_WALL)
