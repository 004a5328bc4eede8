"""Forgetting: channels that name what was forgotten, and statistics that quote it.

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

STATISTICS = """
-- The planner's statistics quote rows, whole texts among them. They are made anew as the owner of the
-- tables, which the application is not. Says whether none is left that an earlier ANALYZE made.
CREATE FUNCTION mnestic.renew_statistics(forgetting text, agent text, relation text) RETURNS boolean
    SECURITY DEFINER LANGUAGE plpgsql
    SET search_path = pg_catalog, mnestic, pg_temp SET lock_timeout = '2s' AS $$
DECLARE
    target constant regclass := format('mnestic.%I', relation)::regclass;
    part text;
BEGIN
    IF NOT EXISTS (
        SELECT FROM mnestic.forgetting AS f
         WHERE f.tenant_id = current_setting('mnestic.tenant_id', true) AND f.agent_id = agent
           AND f.id = forgetting)
    THEN
        RAISE EXCEPTION 'there was no forgetting %', forgetting;
    END IF;
    IF NOT (SELECT pg_has_role(relowner, 'USAGE') FROM pg_class WHERE oid = target) THEN
        RETURN false;  -- ANALYZE would pass it over
    END IF;
    EXECUTE format('ANALYZE %s', target);
    IF (SELECT reltuples > 0 FROM pg_class WHERE oid = target) THEN
        RETURN true;
    END IF;
    -- Where it finds no row, ANALYZE leaves what was there. Postgres 18 can clear it.
    IF to_regprocedure('pg_clear_attribute_stats(text, text, text, boolean)') IS NULL THEN
        RETURN false;
    END IF;
    FOR part IN
        SELECT attname FROM pg_attribute WHERE attrelid = target AND attnum > 0 AND NOT attisdropped
    LOOP
        EXECUTE 'SELECT pg_clear_attribute_stats($1, $2, $3, false)' USING 'mnestic', relation, part;
    END LOOP;
    RETURN true;
END $$;
REVOKE EXECUTE ON FUNCTION mnestic.renew_statistics FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnestic.renew_statistics TO mnestic_app;
"""


def upgrade() -> None:
    op.execute(CHANNELS)
    op.execute(FORGOTTEN)
    op.execute(STATISTICS)
