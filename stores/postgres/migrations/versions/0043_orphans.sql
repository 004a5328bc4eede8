-- Removes messages that nothing refers to, of some or of all, and says how many they were: an entry's goes with it if nothing was
-- learned from it. Otherwise it is as it was.
DROP FUNCTION mnestic.delete_orphans(text);
CREATE FUNCTION mnestic.delete_orphans(agent text, sessions text[], sources text[]) RETURNS integer
    SECURITY DEFINER LANGUAGE sql SET search_path = pg_catalog, mnestic, pg_temp AS $$
WITH tenant AS MATERIALIZED (SELECT current_setting('mnestic.tenant_id', true) AS id),
candidate AS MATERIALIZED (
    SELECT r.session_id, r.source_id, r.at, r.forgotten_at
      FROM tenant AS t
      JOIN mnestic.resource AS r ON r.tenant_id = t.id AND r.agent_id = agent
     WHERE sessions IS NULL
     UNION ALL
    SELECT r.session_id, r.source_id, r.at, r.forgotten_at
      FROM tenant AS t
     CROSS JOIN unnest(sessions, sources) AS place (session_id, source_id)
     CROSS JOIN LATERAL (
        SELECT * FROM mnestic.resource AS r
         WHERE r.tenant_id = t.id AND r.agent_id = agent AND r.session_id = place.session_id AND r.source_id = place.source_id
        OFFSET 0) AS r
),
orphan AS MATERIALIZED (
    SELECT r.session_id, r.source_id
      FROM tenant AS t
     CROSS JOIN candidate AS r
     WHERE r.forgotten_at IS NULL
       AND EXISTS (SELECT FROM mnestic.ingest_state AS i
                    WHERE i.tenant_id = t.id AND i.agent_id = agent AND i.session_id = r.session_id
                      AND i.source_id = r.source_id AND i.state IN ('learned', 'dropped') OFFSET 0)
       AND NOT EXISTS (SELECT FROM mnestic.entry AS e
                        WHERE e.tenant_id = t.id AND e.agent_id = agent AND e.session_id = r.session_id
                          AND e.at = r.at AND e.source_id = r.source_id OFFSET 0)
       AND NOT EXISTS (SELECT FROM mnestic.archived_entry AS a
                        WHERE a.tenant_id = t.id AND a.agent_id = agent AND a.session_id = r.session_id
                          AND a.source_id = r.source_id OFFSET 0)
       AND NOT EXISTS (SELECT FROM mnestic.claim AS c
                        WHERE c.tenant_id = t.id AND c.agent_id = agent AND c.session_id = r.session_id
                          AND c.source_id = r.source_id OFFSET 0)
       AND r.session_id NOT IN (SELECT e.session_id FROM mnestic.episode AS e
                                 WHERE e.tenant_id = t.id AND e.agent_id = agent AND e.session_id IS NOT NULL)
       AND r.session_id NOT IN (SELECT w.session_id FROM mnestic.job_wait AS w
                                 WHERE w.tenant_id = t.id AND w.agent_id = agent)
       AND (r.session_id, r.source_id) NOT IN (
            SELECT u.session_id, u.corrects FROM mnestic.ingest_state AS u
             WHERE u.tenant_id = t.id AND u.agent_id COLLATE "C" = agent AND u.state IN ('received', 'extracted', 'parked')
               AND u.corrects IS NOT NULL)
),
dropped AS (
    UPDATE mnestic.ingest_state AS i SET state = 'dropped', extracted = NULL, updated_at = now()
      FROM tenant AS t, orphan AS o
     WHERE i.tenant_id = t.id AND i.agent_id = agent AND i.session_id = o.session_id AND i.source_id = o.source_id
),
deleted AS (
    DELETE FROM mnestic.resource AS r USING tenant AS t, orphan AS o
     WHERE r.tenant_id = t.id AND r.agent_id = agent AND r.session_id = o.session_id AND r.source_id = o.source_id
    RETURNING 1
)
SELECT CAST(count(*) AS integer) FROM deleted
$$;
REVOKE EXECUTE ON FUNCTION mnestic.delete_orphans FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnestic.delete_orphans TO mnestic_app;
