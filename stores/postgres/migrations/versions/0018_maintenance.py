"""Maintenance: a report of each run.

Revision ID: 0018
Revises: 0017
"""

from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None

REPORTS = """
CREATE TABLE mnestic.maintenance_run (
    tenant_id text NOT NULL,
    id text NOT NULL,
    kind text NOT NULL,
    agent_id text,
    dry_run boolean NOT NULL,
    scheduled_at timestamptz NOT NULL,
    started_at timestamptz NOT NULL,
    finished_at timestamptz NOT NULL,
    agents integer NOT NULL,
    counts jsonb NOT NULL,
    problems jsonb NOT NULL,
    PRIMARY KEY (tenant_id, id)
);
ALTER TABLE mnestic.maintenance_run ALTER COLUMN tenant_id SET (n_distinct = 10),
 ALTER COLUMN agent_id SET (n_distinct = 10);
CREATE INDEX maintenance_run_by_time ON mnestic.maintenance_run (tenant_id, started_at, id);
GRANT SELECT, INSERT ON mnestic.maintenance_run TO mnestic_app;
ALTER TABLE mnestic.maintenance_run ENABLE ROW LEVEL SECURITY;
ALTER TABLE mnestic.maintenance_run FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON mnestic.maintenance_run
 USING (tenant_id = current_setting('mnestic.tenant_id', true))
 WITH CHECK (tenant_id = current_setting('mnestic.tenant_id', true));
"""


def upgrade() -> None:
    op.execute(REPORTS)
