"""The summaries of large memories by time.

Revision ID: 0025
Revises: 0024
"""

from alembic import op

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None

SUMMARIES = """
CREATE TABLE mnestic.summary (
    tenant_id text NOT NULL,
    agent_id text NOT NULL,
    level text NOT NULL,
    starts_at timestamptz NOT NULL,
    session_id text NOT NULL,
    ends_at timestamptz NOT NULL,
    text text NOT NULL,
    tokens integer NOT NULL,
    messages bigint NOT NULL,
    digest text NOT NULL,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, agent_id, level, starts_at, session_id),
    CONSTRAINT summary_level CHECK (level IN ('session', 'week', 'month', 'life')),
    CONSTRAINT summary_session CHECK (level = 'session' OR session_id = '')
);
CREATE INDEX summary_by_session ON mnestic.summary (tenant_id, agent_id, session_id, starts_at) WHERE level = 'session';
ALTER TABLE mnestic.summary ALTER COLUMN tenant_id SET (n_distinct = 10), ALTER COLUMN agent_id SET (n_distinct = 10);
GRANT SELECT, INSERT, DELETE ON mnestic.summary TO mnestic_app;
ALTER TABLE mnestic.summary ENABLE ROW LEVEL SECURITY;
ALTER TABLE mnestic.summary FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON mnestic.summary
 USING (tenant_id = current_setting('mnestic.tenant_id', true))
 WITH CHECK (tenant_id = current_setting('mnestic.tenant_id', true));
"""


def upgrade() -> None:
    op.execute(SUMMARIES)
