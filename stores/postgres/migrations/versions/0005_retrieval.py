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

CLAIMS = """
-- Claims are found by their message. Row-level security lets no expression of JSON use an index.
DROP INDEX mnestic.claim_by_source;
ALTER TABLE mnestic.claim
    ADD COLUMN session_id text GENERATED ALWAYS AS (source ->> 'session_id') STORED,
    ADD COLUMN source_id text GENERATED ALWAYS AS (source ->> 'source_id') STORED;
CREATE INDEX claim_by_source ON mnestic.claim (tenant_id, agent_id, session_id, source_id);
"""

AUTO_RETRIEVAL = """
-- The last messages of a channel, which are read at each message.
CREATE INDEX entry_by_channel ON mnestic.entry (tenant_id, agent_id, channel, at, id);
"""

FORGETTING = """
-- Who had what forgotten, and how much that was. What it was about stands here while it goes on and no
-- longer: what is left is a tombstone without a word of it.
CREATE TABLE mnestic.forgetting (
    tenant_id text NOT NULL,
    agent_id text NOT NULL,
    id text NOT NULL,
    actor text NOT NULL,
    topic text,
    entries jsonb,
    purged jsonb NOT NULL DEFAULT '{}',
    asked_at timestamptz NOT NULL,
    finished_at timestamptz,
    PRIMARY KEY (tenant_id, agent_id, id),
    CONSTRAINT forgetting_finished CHECK
        ((finished_at IS NULL) = (topic IS NOT NULL) AND (finished_at IS NULL OR entries IS NULL))
);
-- A message that is sent again is known by its row, which says nothing any more.
ALTER TABLE mnestic.resource ADD COLUMN forgotten_at timestamptz;
-- What was sealed and what is left of it have a hash each.
ALTER TABLE mnestic.memory_snapshot ADD COLUMN redacted_at timestamptz, ADD COLUMN redacted_sha256 text;

-- Rows that are never changed are changed by a forgetting that goes on, and by the functions below alone:
-- the application may not write these columns, and the trigger asks for the forgetting, whoever writes.
CREATE FUNCTION mnestic.forgets(forgetting text, agent text) RETURNS boolean
    STABLE LANGUAGE sql SET search_path = pg_catalog, mnestic, pg_temp AS $$
    SELECT EXISTS (
        SELECT FROM mnestic.forgetting AS f
         WHERE f.tenant_id = current_setting('mnestic.tenant_id', true) AND f.agent_id = $2
           AND f.id = $1 AND f.finished_at IS NULL)
$$;
CREATE OR REPLACE FUNCTION mnestic.refuse_update() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.tenant_id = current_setting('mnestic.tenant_id', true) AND NEW.tenant_id = OLD.tenant_id
       AND NEW.agent_id = OLD.agent_id
       AND mnestic.forgets(current_setting('mnestic.forgetting', true), OLD.agent_id) THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'rows of % are immutable', TG_TABLE_NAME;
END $$;
CREATE FUNCTION mnestic.begin_forgetting(forgetting text, agent text) RETURNS void
    LANGUAGE plpgsql SET search_path = pg_catalog, mnestic, pg_temp AS $$
BEGIN
    IF NOT mnestic.forgets(forgetting, agent) THEN
        RAISE EXCEPTION 'no forgetting % goes on', forgetting;
    END IF;
    PERFORM set_config('mnestic.forgetting', forgetting, true);
END $$;

CREATE FUNCTION mnestic.forget_messages(forgetting text, agent text, sessions text[], sources text[])
    RETURNS integer SECURITY DEFINER LANGUAGE plpgsql SET search_path = pg_catalog, mnestic, pg_temp AS $$
DECLARE touched integer;
BEGIN
    PERFORM mnestic.begin_forgetting(forgetting, agent);
    UPDATE mnestic.resource AS r SET content = '', speaker = '', forgotten_at = now()
      FROM unnest(sessions, sources) AS gone (session_id, source_id)
     WHERE r.tenant_id = current_setting('mnestic.tenant_id', true) AND r.agent_id = agent
       AND r.session_id = gone.session_id AND r.source_id = gone.source_id AND r.forgotten_at IS NULL;
    GET DIAGNOSTICS touched = ROW_COUNT;
    PERFORM set_config('mnestic.forgetting', '', true);
    RETURN touched;
END $$;
CREATE FUNCTION mnestic.forget_claims(forgetting text, agent text, ids text[])
    RETURNS integer SECURITY DEFINER LANGUAGE plpgsql SET search_path = pg_catalog, mnestic, pg_temp AS $$
DECLARE touched integer;
BEGIN
    PERFORM mnestic.begin_forgetting(forgetting, agent);
    DELETE FROM mnestic.claim AS c
     WHERE c.tenant_id = current_setting('mnestic.tenant_id', true) AND c.agent_id = agent
       AND c.id = ANY (ids);
    GET DIAGNOSTICS touched = ROW_COUNT;
    PERFORM set_config('mnestic.forgetting', '', true);
    RETURN touched;
END $$;
CREATE FUNCTION mnestic.redact_snapshot(forgetting text, agent text, snapshot text, left_of_it bytea)
    RETURNS void SECURITY DEFINER LANGUAGE plpgsql SET search_path = pg_catalog, mnestic, pg_temp AS $$
BEGIN
    PERFORM mnestic.begin_forgetting(forgetting, agent);
    UPDATE mnestic.memory_snapshot AS s
       SET body = left_of_it, redacted_at = now(), redacted_sha256 = encode(sha256(left_of_it), 'hex')
     WHERE s.tenant_id = current_setting('mnestic.tenant_id', true) AND s.agent_id = agent
       AND s.id = snapshot;
    PERFORM set_config('mnestic.forgetting', '', true);
END $$;
CREATE FUNCTION mnestic.redact_audit(forgetting text, agent text, row_id bigint, target_left text,
                                     reason_left text)
    RETURNS void SECURITY DEFINER LANGUAGE plpgsql SET search_path = pg_catalog, mnestic, pg_temp AS $$
BEGIN
    PERFORM mnestic.begin_forgetting(forgetting, agent);
    UPDATE mnestic.audit_log AS a SET target = target_left, reason = reason_left
     WHERE a.tenant_id = current_setting('mnestic.tenant_id', true) AND a.agent_id = agent
       AND a.id = row_id;
    PERFORM set_config('mnestic.forgetting', '', true);
END $$;
REVOKE EXECUTE ON FUNCTION mnestic.forget_messages, mnestic.forget_claims, mnestic.redact_snapshot,
    mnestic.redact_audit FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnestic.forget_messages, mnestic.forget_claims, mnestic.redact_snapshot,
    mnestic.redact_audit TO mnestic_app;
-- What a signal or an injection was about goes; that there was one stays, and so does its number.
GRANT UPDATE (subject, predicate) ON mnestic.signal TO mnestic_app;
GRANT UPDATE (preview, memories, notes, skipped) ON mnestic.memory_retrievals TO mnestic_app;
GRANT DELETE ON mnestic.plan TO mnestic_app;
"""

GRANTS = {
    "forgetting": "SELECT, INSERT, UPDATE (topic, entries, purged, finished_at)",
    "setting": "SELECT, INSERT, UPDATE, DELETE",
    "memory_retrievals": "SELECT, INSERT, DELETE",
}


def upgrade() -> None:
    op.execute(TABLES)
    op.execute(CLAIMS)
    op.execute(AUTO_RETRIEVAL)
    op.execute(FORGETTING)
    for table, privileges in GRANTS.items():
        op.execute(f"GRANT {privileges} ON mnestic.{table} TO mnestic_app")
        op.execute(f"ALTER TABLE mnestic.{table} ENABLE ROW LEVEL SECURITY")
        op.execute(f"ALTER TABLE mnestic.{table} FORCE ROW LEVEL SECURITY")
        op.execute(
            f"CREATE POLICY tenant ON mnestic.{table} "
            "USING (tenant_id = current_setting('mnestic.tenant_id', true)) "
            "WITH CHECK (tenant_id = current_setting('mnestic.tenant_id', true))"
        )
