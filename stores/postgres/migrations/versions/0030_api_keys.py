"""API keys, and indexes of the audit log by key and by denial.

Revision ID: 0030
Revises: 0029
"""

from alembic import op

revision = "0030"
down_revision = "0029"
branch_labels = None
depends_on = None

KEYS = """
CREATE TABLE mnestic.api_key (
    tenant_id text NOT NULL,
    id text NOT NULL,
    sha256 text NOT NULL,
    agents jsonb NOT NULL,
    actions jsonb NOT NULL,
    created_at timestamptz NOT NULL,
    expires_at timestamptz,
    revoked_at timestamptz,
    PRIMARY KEY (tenant_id, id)
);
ALTER TABLE mnestic.api_key ALTER COLUMN tenant_id SET (n_distinct = 10);
GRANT SELECT, INSERT, UPDATE (revoked_at) ON mnestic.api_key TO mnestic_app;
ALTER TABLE mnestic.api_key ENABLE ROW LEVEL SECURITY;
ALTER TABLE mnestic.api_key FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON mnestic.api_key
 USING (tenant_id = current_setting('mnestic.tenant_id', true))
 WITH CHECK (tenant_id = current_setting('mnestic.tenant_id', true));
"""

# Both are small: they have rows of API keys alone.
AUDIT = """
CREATE INDEX audit_log_by_key ON mnestic.audit_log (tenant_id, actor, id) WHERE starts_with(actor, 'key/');
CREATE INDEX audit_log_of_denials ON mnestic.audit_log (tenant_id, id) WHERE action = 'access.denied'
"""


def upgrade() -> None:
    for statements in (KEYS, AUDIT):
        op.execute(statements)
