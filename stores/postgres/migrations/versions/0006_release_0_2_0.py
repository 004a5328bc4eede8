"""0.2.0: jobs made whole, and knowledge: claims, facts, entries and what finds them, settings, forgetting.

Revision ID: 0006
Revises: 0001
"""

import json
from pathlib import Path
from typing import Any

from alembic import op
from sqlalchemy import text

revision = "0006"
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

ALTER TABLE mnestic.agent_revision
    ADD COLUMN signals bigint NOT NULL DEFAULT 0,
    -- How often what searches read has changed: what a process keeps of it is true for as long as this stays.
    ADD COLUMN knowledge bigint NOT NULL DEFAULT 0;
CREATE INDEX operation_of_end ON mnestic.operation (tenant_id, job_id) WHERE name = 'end';

ALTER TABLE mnestic.resource
    -- What the speaker's clock was ahead of UTC: "yesterday" is told by it.
    ADD COLUMN offset_minutes smallint NOT NULL DEFAULT 0,
    -- A message that is sent again is known by its row, which says nothing any more.
    ADD COLUMN forgotten_at timestamptz;
-- What was sealed and what is left of it have a hash each.
ALTER TABLE mnestic.memory_snapshot ADD COLUMN redacted_at timestamptz, ADD COLUMN redacted_sha256 text;
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
    "claim": "SELECT, INSERT",
    "fact": "SELECT, INSERT, UPDATE, DELETE",
    "predicate": "SELECT, INSERT, UPDATE",
    "entry": "SELECT, INSERT, UPDATE, DELETE",
    "posting": "SELECT, INSERT, DELETE",
    "lexeme": "SELECT, INSERT, UPDATE, DELETE",
    "corpus": "SELECT, INSERT, UPDATE",
    "entry_term": "SELECT, INSERT, DELETE",
    "embedding": "SELECT, INSERT, UPDATE, DELETE",
    "learning": "SELECT, INSERT, UPDATE",
    "signal": "SELECT, INSERT, DELETE",
    "embedding_model": "SELECT, INSERT, UPDATE",
    "forgetting": "SELECT, INSERT, UPDATE (topic, entries, purged, finished_at)",
    "setting": "SELECT, INSERT, UPDATE, DELETE",
    "memory_retrievals": "SELECT, INSERT, DELETE",
}


def upgrade() -> None:
    op.execute(CHANGES)
    _write_states_canonically()
    op.execute(COUNT)
    statements = Path(__file__).with_name("0006_schema.sql").read_text(encoding="utf-8")
    op.execute(statements.replace(":", r"\:"))  # no colon is of a parameter
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
