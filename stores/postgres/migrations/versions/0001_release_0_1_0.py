"""Working memory, records, episodes, snapshots, waits, resources, ledger and audit.

Revision ID: 0001
Revises:
"""

from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

TABLES = """
CREATE TABLE mnestic.working_memory (
    tenant_id text NOT NULL,
    agent_id text NOT NULL,
    session_id text NOT NULL,
    version integer NOT NULL,
    state jsonb NOT NULL,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, agent_id, session_id)
);

CREATE TABLE mnestic.long_term_record (
    tenant_id text NOT NULL,
    agent_id text NOT NULL,
    namespace text NOT NULL,
    key text NOT NULL,
    version integer NOT NULL,
    value jsonb,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    expires_at timestamptz,
    PRIMARY KEY (tenant_id, agent_id, namespace, key)
);

CREATE TABLE mnestic.job_read (
    tenant_id text NOT NULL,
    agent_id text NOT NULL,
    job_id text NOT NULL,
    namespace text NOT NULL,
    key text NOT NULL,
    version integer NOT NULL,
    value jsonb,
    PRIMARY KEY (tenant_id, agent_id, job_id, namespace, key)
);

CREATE TABLE mnestic.episode (
    tenant_id text NOT NULL,
    id text NOT NULL,
    agent_id text NOT NULL,
    session_id text,
    job_id text,
    summary text NOT NULL,
    payload jsonb NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, id)
);
CREATE INDEX episode_by_agent ON mnestic.episode (tenant_id, agent_id, created_at, id);
CREATE INDEX episode_by_session ON mnestic.episode (tenant_id, agent_id, session_id, created_at, id);
CREATE INDEX episode_by_job ON mnestic.episode (tenant_id, agent_id, job_id, created_at, id);

CREATE TABLE mnestic.memory_snapshot (
    tenant_id text NOT NULL,
    id text NOT NULL,
    agent_id text NOT NULL,
    job_id text NOT NULL,
    schema_version integer NOT NULL,
    sha256 text NOT NULL,
    body bytea NOT NULL,
    memory_revision bigint NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, id)
);

CREATE TABLE mnestic.job_wait (
    tenant_id text NOT NULL,
    wait_id text NOT NULL,
    job_id text NOT NULL,
    agent_id text NOT NULL,
    session_id text NOT NULL,
    key text NOT NULL,
    state text NOT NULL,
    policy text NOT NULL,
    snapshot_id text NOT NULL,
    context jsonb NOT NULL,
    deadline timestamptz NOT NULL,
    opened_at timestamptz NOT NULL,
    closed_at timestamptz,
    request_id text,
    receipt jsonb,
    PRIMARY KEY (tenant_id, wait_id),
    CONSTRAINT job_wait_state CHECK (state IN ('waiting', 'resumed', 'timed_out', 'cancelled')),
    CONSTRAINT job_wait_policy CHECK (policy IN ('rebase')),
    CONSTRAINT job_wait_closed CHECK ((state = 'waiting') = (closed_at IS NULL))
);
CREATE INDEX job_wait_by_job ON mnestic.job_wait (tenant_id, agent_id, job_id, opened_at, wait_id);
CREATE UNIQUE INDEX job_wait_by_request ON mnestic.job_wait (tenant_id, job_id, request_id)
    WHERE request_id IS NOT NULL;

CREATE TABLE mnestic.resource (
    tenant_id text NOT NULL,
    agent_id text NOT NULL,
    session_id text NOT NULL,
    source_id text NOT NULL,
    channel text NOT NULL,
    speaker text NOT NULL,
    content text NOT NULL,
    at timestamptz NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, agent_id, session_id, source_id)
);
CREATE INDEX resource_by_session ON mnestic.resource (tenant_id, agent_id, session_id, at, source_id);

CREATE TABLE mnestic.operation (
    tenant_id text NOT NULL,
    key text NOT NULL,
    name text NOT NULL,
    agent_id text NOT NULL,
    job_id text,
    request_hash text NOT NULL,
    result jsonb,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, key)
);

CREATE TABLE mnestic.audit_log (
    tenant_id text NOT NULL,
    id bigint GENERATED ALWAYS AS IDENTITY,
    agent_id text NOT NULL,
    at timestamptz NOT NULL,
    actor text NOT NULL,
    action text NOT NULL,
    target text NOT NULL,
    operation_key text,
    PRIMARY KEY (tenant_id, id)
);
CREATE INDEX audit_log_by_agent ON mnestic.audit_log (tenant_id, agent_id, id);

CREATE TABLE mnestic.agent_revision (
    tenant_id text NOT NULL,
    agent_id text NOT NULL,
    revision bigint NOT NULL,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, agent_id)
);
"""

# A role belongs to the whole cluster, so another database may be making it at this moment.
ROLE = """
DO $$
BEGIN
    CREATE ROLE mnestic_app LOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE;
EXCEPTION WHEN duplicate_object OR unique_violation THEN
    NULL;
END $$;
DO $$
BEGIN
    IF NOT (SELECT rolsuper FROM pg_roles WHERE rolname = CURRENT_USER) THEN
        GRANT mnestic_app TO CURRENT_USER;
    END IF;
END $$;
GRANT USAGE ON SCHEMA mnestic TO mnestic_app;
GRANT SELECT ON mnestic.alembic_version TO mnestic_app;
"""

# What the application may do with each table: raw messages, snapshots and the audit log are never
# changed, and the ledger only takes its result once.
GRANTS = {
    "working_memory": "SELECT, INSERT, UPDATE, DELETE",
    "long_term_record": "SELECT, INSERT, UPDATE, DELETE",
    "job_read": "SELECT, INSERT, UPDATE, DELETE",
    "episode": "SELECT, INSERT, UPDATE, DELETE",
    "memory_snapshot": "SELECT, INSERT",
    "job_wait": "SELECT, INSERT, UPDATE",
    "resource": "SELECT, INSERT",
    "operation": "SELECT, INSERT, UPDATE (result)",
    "audit_log": "SELECT, INSERT",
    "agent_revision": "SELECT, INSERT, UPDATE",
}

IMMUTABLE = """
CREATE FUNCTION mnestic.refuse_update() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'rows of % are immutable', TG_TABLE_NAME;
END $$;
CREATE TRIGGER memory_snapshot_immutable BEFORE UPDATE ON mnestic.memory_snapshot
    FOR EACH ROW EXECUTE FUNCTION mnestic.refuse_update();
CREATE TRIGGER resource_immutable BEFORE UPDATE ON mnestic.resource
    FOR EACH ROW EXECUTE FUNCTION mnestic.refuse_update();
CREATE TRIGGER audit_log_immutable BEFORE UPDATE ON mnestic.audit_log
    FOR EACH ROW EXECUTE FUNCTION mnestic.refuse_update();
"""


def upgrade() -> None:
    op.execute("CREATE EXTENSION IF NOT EXISTS vector")
    op.execute(TABLES)
    op.execute(ROLE)
    for table, privileges in GRANTS.items():
        op.execute(f"GRANT {privileges} ON mnestic.{table} TO mnestic_app")
        op.execute(f"ALTER TABLE mnestic.{table} ENABLE ROW LEVEL SECURITY")
        op.execute(f"ALTER TABLE mnestic.{table} FORCE ROW LEVEL SECURITY")
        op.execute(
            f"CREATE POLICY tenant ON mnestic.{table} "
            "USING (tenant_id = current_setting('mnestic.tenant_id', true)) "
            "WITH CHECK (tenant_id = current_setting('mnestic.tenant_id', true))"
        )
    op.execute(IMMUTABLE)
