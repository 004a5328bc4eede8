-- The index of states has no messages that were learned from, which are nearly all. What it is for is to find the others.
DROP INDEX mnestic.ingest_state_by_state;
-- Of the collation "C", so that no other index serves the condition on the agent: before a table is
-- analysed, Postgres expects a row or two whatever it is asked, and might read all that an agent has.
CREATE INDEX ingest_state_by_state ON mnestic.ingest_state (tenant_id, agent_id COLLATE "C", state, number)
    WHERE state <> 'learned';
-- Each tenant is looked at as that tenant: nothing here passes row-level security. It goes from agent to agent and from state to
-- state along the index `ingest_state_by_state`, and reads no message that is done.
CREATE OR REPLACE FUNCTION mnestic.waiting_agents(of_tenants text[]) RETURNS TABLE (tenant_id text, agent_id text)
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
              WHERE l.tenant_id = one AND l.state <> 'learned' ORDER BY l.agent_id COLLATE "C" LIMIT 1)
            UNION ALL
            SELECT (SELECT l.agent_id COLLATE "C" FROM mnestic.ingest_state AS l
                     WHERE l.tenant_id = one AND l.agent_id COLLATE "C" > a.agent AND l.state <> 'learned'
                     ORDER BY l.agent_id COLLATE "C" LIMIT 1)
              FROM agents AS a WHERE a.agent IS NOT NULL
        )
        SELECT one, a.agent FROM agents AS a
         WHERE EXISTS (SELECT FROM mnestic.ingest_state AS l
                        WHERE l.tenant_id = one AND l.agent_id COLLATE "C" = a.agent
                          AND l.state IN ('received', 'extracted'));
    END LOOP;
    PERFORM set_config('mnestic.tenant_id', caller, true);
END $$;
