"""Forgetting: messages of several sentences lose those that speak of the topic.

Revision ID: 0010
Revises: 0009
"""

from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

CUT = """
-- What a message says of a topic is blanked out, so that all else stands where claims say that it stands. A text that
-- says anything else in those places is not taken.
CREATE FUNCTION mnestic.cut_messages(
    forgetting text, agent text, sessions text[], sources text[], contents text[]
)
    RETURNS integer SECURITY DEFINER LANGUAGE plpgsql SET search_path = pg_catalog, mnestic, pg_temp AS $$
DECLARE touched integer;
BEGIN
    PERFORM mnestic.begin_forgetting(forgetting, agent);
    UPDATE mnestic.resource AS r SET content = cut.content
      FROM unnest(sessions, sources, contents) AS cut (session_id, source_id, content)
     WHERE r.tenant_id = current_setting('mnestic.tenant_id', true) AND r.agent_id = agent
       AND r.session_id = cut.session_id AND r.source_id = cut.source_id AND r.forgotten_at IS NULL
       AND char_length(r.content) = char_length(cut.content);
    GET DIAGNOSTICS touched = ROW_COUNT;
    PERFORM set_config('mnestic.forgetting', '', true);
    RETURN touched;
END $$;
REVOKE EXECUTE ON FUNCTION mnestic.cut_messages FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnestic.cut_messages TO mnestic_app;
"""


def upgrade() -> None:
    op.execute(CUT)
