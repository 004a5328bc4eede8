"""Retrieval: an agent's settings, and what was put into prompts.

Revision ID: 0005
Revises: 0004
"""

from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

TABLES = """
-- What is set for an agent at run time; of what is not set the defaults hold.
CREATE TABLE mnestic.setting (
    tenant_id text NOT NULL,
    agent_id text NOT NULL,
    name text NOT NULL,
    value jsonb NOT NULL,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, agent_id, name)
);
-- What auto-retrieval has put before a message: the memories and the notes, by their names alone.
CREATE TABLE mnestic.memory_retrievals (
    tenant_id text NOT NULL,
    agent_id text NOT NULL,
    id bigint GENERATED ALWAYS AS IDENTITY,
    channel text NOT NULL,
    preview text NOT NULL,
    memories jsonb NOT NULL,
    notes jsonb NOT NULL,
    skipped jsonb NOT NULL,
    tokens integer NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, agent_id, id)
);
CREATE INDEX memory_retrievals_by_time ON mnestic.memory_retrievals
    (tenant_id, agent_id, created_at, id);
-- How many of a call's input tokens auto-retrieval has put there.
ALTER TABLE mnestic.llm_usage ADD COLUMN injected_tokens bigint NOT NULL DEFAULT 0;
"""

GRANTS = {
    "setting": "SELECT, INSERT, UPDATE, DELETE",
    "memory_retrievals": "SELECT, INSERT, DELETE",
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
