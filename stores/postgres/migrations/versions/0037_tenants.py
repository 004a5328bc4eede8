"""Which tenants there are, so that a worker finds the messages of all that wait for extraction.

The register has no row-level security: it is what a worker reads before it becomes a tenant. It holds names alone.

Revision ID: 0037
Revises: 0036
"""

from alembic import op

revision = "0037"
down_revision = "0036"
branch_labels = None
depends_on = None

REGISTER = """
CREATE TABLE mnestic.tenant (tenant_id text COLLATE "C" PRIMARY KEY CHECK (tenant_id <> ''));
GRANT SELECT, INSERT ON mnestic.tenant TO mnestic_app;

ALTER TABLE mnestic.agent_revision NO FORCE ROW LEVEL SECURITY;  -- else its owner sees no row
INSERT INTO mnestic.tenant (tenant_id) SELECT DISTINCT tenant_id FROM mnestic.agent_revision;
ALTER TABLE mnestic.agent_revision FORCE ROW LEVEL SECURITY;

CREATE FUNCTION mnestic.register_tenant() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO mnestic.tenant (tenant_id) VALUES (NEW.tenant_id) ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;
-- An agent's counters are inserted once, by the first that writes its memory.
CREATE TRIGGER register_tenant AFTER INSERT ON mnestic.agent_revision
    FOR EACH ROW EXECUTE FUNCTION mnestic.register_tenant();
"""
# Each tenant is looked at as that tenant: nothing here passes row-level security. It goes from agent to agent and from state to
# state along the index `ingest_state_by_state`, and reads no message that is done.
WAITING_AGENTS = """
CREATE FUNCTION mnestic.waiting_agents(of_tenants text[]) RETURNS TABLE (tenant_id text, agent_id text)
LANGUAGE plpgsql AS $$
DECLARE
    caller text := current_setting('mnestic.tenant_id');
    one text;
BEGIN
    FOR one IN SELECT t.tenant_id FROM mnestic.tenant AS t WHERE of_tenants = '{}' OR t.tenant_id = ANY (of_tenants)
    LOOP
        PERFORM set_config('mnestic.tenant_id', one, true);
        RETURN QUERY
        WITH RECURSIVE agents AS (
            (SELECT l.agent_id COLLATE "C" AS agent FROM mnestic.ingest_state AS l
              WHERE l.tenant_id = one ORDER BY l.agent_id COLLATE "C" LIMIT 1)
            UNION ALL
            SELECT (SELECT l.agent_id COLLATE "C" FROM mnestic.ingest_state AS l
                     WHERE l.tenant_id = one AND l.agent_id COLLATE "C" > a.agent
                     ORDER BY l.agent_id COLLATE "C" LIMIT 1)
              FROM agents AS a WHERE a.agent IS NOT NULL
        )
        SELECT one, a.agent FROM agents AS a
         WHERE EXISTS (SELECT FROM mnestic.ingest_state AS l
                        WHERE l.tenant_id = one AND l.agent_id COLLATE "C" = a.agent
                          AND l.state IN ('received', 'extracted'));
    END LOOP;
    PERFORM set_config('mnestic.tenant_id', caller, true);
END $$
"""


def upgrade() -> None:
    op.execute(REGISTER)
    op.execute(WAITING_AGENTS)
