"""What nights add: merged entries, what use adds to the confidence of facts, and summaries of categories.

Revision ID: 0021
Revises: 0020
"""

from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None

MERGED = """
ALTER TABLE mnestic.entry ADD COLUMN merged_into text;
ALTER TABLE mnestic.archived_entry DROP CONSTRAINT archived_entry_reason,
 ADD CONSTRAINT archived_entry_reason CHECK (reason IN ('unimportant', 'over_limit', 'by_hand', 'compressed', 'merged')),
 ADD COLUMN merged_into text GENERATED ALWAYS AS (entry ->> 'merged_into') STORED;
CREATE INDEX archived_entry_merged ON mnestic.archived_entry (tenant_id, agent_id, merged_into) WHERE merged_into IS NOT NULL;
"""
USED = """
ALTER TABLE mnestic.fact ADD COLUMN promotion double precision NOT NULL DEFAULT 0,
 ADD COLUMN used_at timestamptz;
CREATE INDEX fact_by_category ON mnestic.fact (tenant_id, agent_id, category, valid_from, id) WHERE status = 'active';
"""
CATEGORIES = """
CREATE TABLE mnestic.category (
    tenant_id text NOT NULL,
    agent_id text NOT NULL,
    name text NOT NULL,
    summary text,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, agent_id, name),
    CONSTRAINT category_name CHECK (name IN ('profile', 'preferences', 'relationships', 'work', 'events', 'knowledge'))
);
ALTER TABLE mnestic.category ALTER COLUMN tenant_id SET (n_distinct = 10), ALTER COLUMN agent_id SET (n_distinct = 10);
GRANT SELECT, INSERT, UPDATE, DELETE ON mnestic.category TO mnestic_app;
ALTER TABLE mnestic.category ENABLE ROW LEVEL SECURITY;
ALTER TABLE mnestic.category FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON mnestic.category
 USING (tenant_id = current_setting('mnestic.tenant_id', true))
 WITH CHECK (tenant_id = current_setting('mnestic.tenant_id', true));
"""


def upgrade() -> None:
    op.execute(MERGED)
    op.execute(USED)
    op.execute(CATEGORIES)
