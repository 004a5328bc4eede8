"""The archive of entries, facts that fade, and the removal of messages that nothing refers to.

Revision ID: 0019
Revises: 0018
"""

from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None

ARCHIVE = """
CREATE TABLE mnestic.archived_entry (
    tenant_id text NOT NULL,
    agent_id text NOT NULL,
    id text NOT NULL,
    archived_at timestamptz NOT NULL,
    reason text NOT NULL,
    run text,
    entry jsonb NOT NULL,
    models text[] NOT NULL,
    vectors halfvec[] NOT NULL,
    session_id text GENERATED ALWAYS AS (entry ->> 'session_id') STORED,
    source_id text GENERATED ALWAYS AS (entry ->> 'source_id') STORED,
    PRIMARY KEY (tenant_id, agent_id, id),
    CONSTRAINT archived_entry_reason CHECK (reason IN ('unimportant', 'over_limit', 'by_hand', 'compressed'))
);
ALTER TABLE mnestic.archived_entry ALTER COLUMN tenant_id SET (n_distinct = 10),
 ALTER COLUMN agent_id SET (n_distinct = 10);
CREATE INDEX archived_entry_by_time ON mnestic.archived_entry (tenant_id, agent_id, archived_at, id);
CREATE INDEX archived_entry_by_source ON mnestic.archived_entry (tenant_id, agent_id, session_id, source_id);
GRANT SELECT, INSERT, UPDATE, DELETE ON mnestic.archived_entry TO mnestic_app;
ALTER TABLE mnestic.archived_entry ENABLE ROW LEVEL SECURITY;
ALTER TABLE mnestic.archived_entry FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON mnestic.archived_entry
 USING (tenant_id = current_setting('mnestic.tenant_id', true))
 WITH CHECK (tenant_id = current_setting('mnestic.tenant_id', true));
"""


def upgrade() -> None:
    op.execute(ARCHIVE)
