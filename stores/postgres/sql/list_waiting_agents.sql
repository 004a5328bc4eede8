-- Agents of a tenant that have messages from which nothing has been extracted yet.
-- Goes from agent to agent and from state to state along the index `ingest_state_by_state`, and reads no message that is done.
WITH RECURSIVE agents AS (
    (SELECT agent_id COLLATE "C" AS agent_id FROM mnestic.ingest_state
      WHERE tenant_id = %(tenant_id)s ORDER BY agent_id COLLATE "C" LIMIT 1)
    UNION ALL
    SELECT (SELECT l.agent_id COLLATE "C" FROM mnestic.ingest_state AS l
             WHERE l.tenant_id = %(tenant_id)s AND l.agent_id COLLATE "C" > a.agent_id
             ORDER BY l.agent_id COLLATE "C" LIMIT 1)
      FROM agents AS a WHERE a.agent_id IS NOT NULL
)
SELECT agent_id FROM agents AS a
 WHERE EXISTS (SELECT FROM mnestic.ingest_state AS l
                WHERE l.tenant_id = %(tenant_id)s AND l.agent_id COLLATE "C" = a.agent_id
                  AND l.state IN ('received', 'extracted'))
