"""Facts: what was claimed, what is believed, and how many objects a predicate has.

Revision ID: 0003
Revises: 0002
"""

from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

TABLES = """
CREATE TABLE mnestic.claim (
    tenant_id text NOT NULL,
    agent_id text NOT NULL,
    id text NOT NULL,
    kind text NOT NULL,
    subject text NOT NULL,
    subject_key text NOT NULL,
    predicate text NOT NULL,
    object text,
    confidence double precision NOT NULL,
    said_at timestamptz NOT NULL,
    valid_from timestamptz,
    valid_to timestamptz,
    source jsonb NOT NULL,
    recorded_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, agent_id, id),
    CONSTRAINT claim_kind CHECK
        (kind IN ('affirmed', 'corrected', 'ended', 'retracted', 'reactivated', 'deleted'))
);
CREATE INDEX claim_by_topic ON mnestic.claim (tenant_id, agent_id, subject_key, predicate);

CREATE TABLE mnestic.fact (
    tenant_id text NOT NULL,
    agent_id text NOT NULL,
    id text NOT NULL,
    subject text NOT NULL,
    subject_key text NOT NULL,
    predicate text NOT NULL,
    object text NOT NULL,
    object_key text NOT NULL,
    category text NOT NULL,
    cardinality text NOT NULL,
    status text NOT NULL,
    confidence double precision NOT NULL,
    valid_from timestamptz NOT NULL,
    valid_to timestamptz,
    "end" text,
    supersedes text,
    superseded_by text,
    claims jsonb NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, agent_id, id),
    CONSTRAINT fact_status CHECK (status IN ('active', 'archived', 'deleted')),
    CONSTRAINT fact_cardinality CHECK (cardinality IN ('single', 'multi')),
    CONSTRAINT fact_category CHECK
        (category IN ('profile', 'preferences', 'relationships', 'work', 'events', 'knowledge'))
);
CREATE INDEX fact_by_topic ON mnestic.fact (tenant_id, agent_id, subject_key, predicate, valid_from, id);
CREATE UNIQUE INDEX fact_active_single ON mnestic.fact (tenant_id, agent_id, subject_key, predicate)
    WHERE status = 'active' AND cardinality = 'single';
CREATE UNIQUE INDEX fact_active_multi
    ON mnestic.fact (tenant_id, agent_id, subject_key, predicate, object_key)
    WHERE status = 'active' AND cardinality = 'multi';

CREATE TABLE mnestic.predicate (
    tenant_id text NOT NULL,
    name text NOT NULL,
    cardinality text NOT NULL,
    category text NOT NULL,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, name),
    CONSTRAINT predicate_cardinality CHECK (cardinality IN ('single', 'multi')),
    CONSTRAINT predicate_category CHECK
        (category IN ('profile', 'preferences', 'relationships', 'work', 'events', 'knowledge'))
);
"""

GRANTS = {
    "claim": "SELECT, INSERT",
    "fact": "SELECT, INSERT, UPDATE, DELETE",
    "predicate": "SELECT, INSERT, UPDATE",
}


def upgrade() -> None:
    op.execute(TABLES)
    for table, privileges in GRANTS.items():
        op.execute(f"GRANT {privileges} ON mnestic.{table} TO mnestic_app")
        op.execute(f"ALTER TABLE mnestic.{table} ENABLE ROW LEVEL SECURITY")
        op.execute(f"ALTER TABLE mnestic.{table} FORCE ROW LEVEL SECURITY")
        op.execute(
            f"CREATE POLICY tenant ON mnestic.{table} "
            "USING (tenant_id = current_setting('mnestic.tenant_id', true)) "
            "WITH CHECK (tenant_id = current_setting('mnestic.tenant_id', true))"
        )
