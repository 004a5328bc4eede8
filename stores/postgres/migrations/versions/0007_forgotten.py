"""Forgetting: channels that name what was forgotten.

Revision ID: 0007
Revises: 0006
"""

from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

CHANNELS = """
-- Where a message came from may name what it was about, and goes with it.
CREATE OR REPLACE FUNCTION mnestic.forget_messages(
    forgetting text, agent text, sessions text[], sources text[]
)
    RETURNS integer SECURITY DEFINER LANGUAGE plpgsql SET search_path = pg_catalog, mnestic, pg_temp AS $$
DECLARE touched integer;
BEGIN
    PERFORM mnestic.begin_forgetting(forgetting, agent);
    UPDATE mnestic.resource AS r SET content = '', speaker = '', channel = '', forgotten_at = now()
      FROM unnest(sessions, sources) AS gone (session_id, source_id)
     WHERE r.tenant_id = current_setting('mnestic.tenant_id', true) AND r.agent_id = agent
       AND r.session_id = gone.session_id AND r.source_id = gone.source_id AND r.forgotten_at IS NULL;
    GET DIAGNOSTICS touched = ROW_COUNT;
    PERFORM set_config('mnestic.forgetting', '', true);
    RETURN touched;
END $$;
-- A message that says nothing of the topic stays, and does not name it any more.
CREATE FUNCTION mnestic.redact_channel(forgetting text, agent text, session text, source text,
                                       channel_left text)
    RETURNS void SECURITY DEFINER LANGUAGE plpgsql SET search_path = pg_catalog, mnestic, pg_temp AS $$
BEGIN
    PERFORM mnestic.begin_forgetting(forgetting, agent);
    UPDATE mnestic.resource AS r SET channel = channel_left
     WHERE r.tenant_id = current_setting('mnestic.tenant_id', true) AND r.agent_id = agent
       AND r.session_id = session AND r.source_id = source;
    PERFORM set_config('mnestic.forgetting', '', true);
END $$;
REVOKE EXECUTE ON FUNCTION mnestic.redact_channel FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnestic.redact_channel TO mnestic_app;
GRANT UPDATE (channel) ON mnestic.memory_retrievals TO mnestic_app;
"""

FORGOTTEN = """
-- Messages that were forgotten before.
ALTER TABLE mnestic.resource NO FORCE ROW LEVEL SECURITY;  -- else its owner sees no row
ALTER TABLE mnestic.resource DISABLE TRIGGER USER;
UPDATE mnestic.resource SET channel = '' WHERE forgotten_at IS NOT NULL AND channel <> '';
ALTER TABLE mnestic.resource ENABLE TRIGGER USER;
ALTER TABLE mnestic.resource FORCE ROW LEVEL SECURITY;
"""


def upgrade() -> None:
    op.execute(CHANNELS)
    op.execute(FORGOTTEN)
