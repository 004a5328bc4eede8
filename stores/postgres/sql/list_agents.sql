-- Agents of a tenant, by name, each with how much there is of what it has.
-- An agent is one whose memory was written: the row that counts its revisions. What belongs to the whole tenant is of none.
-- The counts go along the primary keys, and those of facts along the indexes of the active ones, for a page of agents.
WITH page AS (
    SELECT agent_id, updated_at FROM mnestic.agent_revision
     WHERE tenant_id = %(tenant_id)s AND agent_id <> %(every_agent)s
       AND (CAST(%(agent_id)s AS text) IS NULL OR agent_id = %(agent_id)s)
       AND (CAST(%(after)s AS text) IS NULL OR agent_id > %(after)s)
     ORDER BY agent_id LIMIT %(limit)s
)
SELECT p.agent_id, p.updated_at AS last_written_at,
       COALESCE((SELECT c.entries FROM mnestic.corpus AS c
                  WHERE c.tenant_id = %(tenant_id)s AND c.agent_id = p.agent_id), 0)
     - (SELECT count(*) FROM mnestic.entry AS d
         WHERE d.tenant_id = %(tenant_id)s AND d.agent_id = p.agent_id AND d.kind <> 'message') AS entries,
       (SELECT count(*) FROM mnestic.fact AS f
         WHERE f.tenant_id = %(tenant_id)s AND f.agent_id = p.agent_id AND f.status = 'active') AS facts,
       (SELECT count(*) FROM mnestic.resource AS r
         WHERE r.tenant_id = %(tenant_id)s AND r.agent_id = p.agent_id) AS messages,
       (SELECT count(*) FROM mnestic.long_term_record AS l
         WHERE l.tenant_id = %(tenant_id)s AND l.agent_id = p.agent_id AND l.value IS NOT NULL
           AND l.namespace !~ '^~(versions|conflicts|histories|shared)/' AND (l.expires_at IS NULL OR l.expires_at > now())) AS records,
       (SELECT count(*) FROM mnestic.episode AS e
         WHERE e.tenant_id = %(tenant_id)s AND e.agent_id = p.agent_id) AS episodes,
       (SELECT count(*) FROM mnestic.working_memory AS w
         WHERE w.tenant_id = %(tenant_id)s AND w.agent_id = p.agent_id) AS sessions
  FROM page AS p ORDER BY p.agent_id
