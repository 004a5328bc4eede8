"""Messages are extracted again when earlier ones of their session arrive late, and their claims are replaced.

Revision ID: 0029
Revises: 0028
"""

from alembic import op

revision = "0029"
down_revision = "0028"
branch_labels = None
depends_on = None

# NULL where it is not known, as of all messages until now: those are not extracted again.
CONTEXT = "ALTER TABLE mnestic.ingest_state ADD COLUMN context bigint[]"

# By bytes, so that messages of one moment have the same order in every database.
ORDER = """
DROP INDEX mnestic.resource_by_session;
CREATE INDEX resource_by_session ON mnestic.resource
    (tenant_id, agent_id, session_id, at, source_id COLLATE "C")
"""

# Of a message that is being learned from; what a person has had believed again stays.
REPLACE = """
CREATE FUNCTION mnestic.replace_claims(agent text, ids text[])
    RETURNS integer SECURITY DEFINER LANGUAGE plpgsql SET search_path = pg_catalog, mnestic, pg_temp AS $$
DECLARE touched integer;
BEGIN
    DELETE FROM mnestic.claim AS c USING mnestic.ingest_state AS i
     WHERE c.tenant_id = current_setting('mnestic.tenant_id', true) AND c.agent_id = agent AND c.id = ANY (ids)
       AND i.tenant_id = c.tenant_id AND i.agent_id = c.agent_id
       AND i.session_id = c.session_id AND i.source_id = c.source_id AND i.state = 'extracted'
       AND NOT EXISTS (
           SELECT FROM mnestic.claim AS d
            WHERE d.tenant_id = c.tenant_id AND d.agent_id = c.agent_id AND d.subject_key = c.subject_key
              AND d.predicate = c.predicate AND d.kind = 'reactivated' AND lower(d.object) = lower(c.object));
    GET DIAGNOSTICS touched = ROW_COUNT;
    RETURN touched;
END $$;
REVOKE EXECUTE ON FUNCTION mnestic.replace_claims FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnestic.replace_claims TO mnestic_app;
"""


def upgrade() -> None:
    for statement in (CONTEXT, ORDER, REPLACE):
        op.execute(statement)
