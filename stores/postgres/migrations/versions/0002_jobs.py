"""Jobs made whole: policies, forms, plans, large results, usage of models, reasons.

Revision ID: 0002
Revises: 0001
"""

import json
from typing import Any

from alembic import op
from sqlalchemy import text

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

CHANGES = """
ALTER TABLE mnestic.working_memory ADD COLUMN last_checkpoint text;
ALTER TABLE mnestic.working_memory NO FORCE ROW LEVEL SECURITY; -- else the owner sees no row
UPDATE mnestic.working_memory SET last_checkpoint = state ->> 'last_checkpoint';
-- json keeps what was written to the byte, so a snapshot takes it over without reading it.
ALTER TABLE mnestic.working_memory
    ALTER COLUMN state TYPE json USING (state - 'version' - 'last_checkpoint')::json;

-- Snapshots are not compressed: that takes longer than all else that Postgres does for a wait.
ALTER TABLE mnestic.memory_snapshot ALTER COLUMN body SET STORAGE EXTERNAL;

ALTER TABLE mnestic.job_read ADD COLUMN pinned boolean NOT NULL DEFAULT false;

ALTER TABLE mnestic.job_wait
    ADD COLUMN outcomes jsonb NOT NULL DEFAULT '[]',
    ADD COLUMN ask text,
    ADD COLUMN form jsonb,
    DROP CONSTRAINT job_wait_policy,
    ADD CONSTRAINT job_wait_policy CHECK (policy IN ('pinned', 'rebase', 'strict'));

ALTER TABLE mnestic.audit_log ADD COLUMN reason text;

CREATE INDEX operation_by_job ON mnestic.operation (tenant_id, job_id, created_at, key);
"""

TABLES = """
CREATE TABLE mnestic.plan (
    tenant_id text NOT NULL,
    decision_id text NOT NULL,
    document jsonb NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, decision_id)
);

CREATE TABLE mnestic.tool_result (
    tenant_id text NOT NULL,
    id text NOT NULL,
    agent_id text NOT NULL,
    job_id text NOT NULL,
    node text NOT NULL,
    sha256 text NOT NULL,
    size_bytes bigint NOT NULL,
    body bytea NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, id)
);

CREATE TABLE mnestic.llm_usage (
    tenant_id text NOT NULL,
    id bigint GENERATED ALWAYS AS IDENTITY,
    agent_id text NOT NULL,
    session_id text,
    job_id text,
    operation_key text,
    purpose text NOT NULL,
    model text NOT NULL,
    input_tokens bigint NOT NULL,
    output_tokens bigint NOT NULL,
    cost_usd numeric,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, id)
);
CREATE INDEX llm_usage_by_job ON mnestic.llm_usage (tenant_id, agent_id, job_id);
"""

KEYS = text("SELECT tenant_id, agent_id, session_id FROM mnestic.working_memory")
STATE = text("""
SELECT state::text FROM mnestic.working_memory
WHERE tenant_id = :tenant_id AND agent_id = :agent_id AND session_id = :session_id
""")
WRITE_STATE = text("""
UPDATE mnestic.working_memory SET state = CAST(:state AS json)
WHERE tenant_id = :tenant_id AND agent_id = :agent_id AND session_id = :session_id
""")

# Once all states are in canonical form.
COUNT = """
ALTER TABLE mnestic.working_memory ADD COLUMN message_count integer
    GENERATED ALWAYS AS (json_array_length(state -> 'messages')) STORED
"""

GRANTS = {
    "plan": "SELECT, INSERT",
    "tool_result": "SELECT, INSERT, DELETE",
    "llm_usage": "SELECT, INSERT",
}


def upgrade() -> None:
    op.execute(CHANGES)
    _write_states_canonically()
    op.execute(COUNT)
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


def _write_states_canonically() -> None:
    """From here on each state is the bytes that a snapshot seals."""
    connection = op.get_bind()
    for key in connection.execute(KEYS).mappings().all():
        state = json.loads(connection.execute(STATE, {**key}).scalar_one())
        connection.execute(WRITE_STATE, {**key, "state": _canonical(state)})
    op.execute("ALTER TABLE mnestic.working_memory FORCE ROW LEVEL SECURITY")


def _canonical(state: Any) -> str:
    """What the code of that time sealed: sorted keys and no white space."""
    return json.dumps(
        state, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )
