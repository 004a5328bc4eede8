-- The messages right before and after given ones in their sessions, by date, without the given ones.
-- A message of the same moment comes before another whose source id is greater, byte by byte.
WITH given AS MATERIALIZED (
    SELECT session_id, source_id, at
      FROM json_to_recordset(CAST(%(messages)s AS json)) AS g (session_id text, source_id text, at timestamptz)
),
near AS (
    SELECT DISTINCT g.session_id, n.source_id
      FROM given AS g
     CROSS JOIN LATERAL (
        (SELECT r.source_id FROM mnestic.resource AS r
           JOIN mnestic.ingest_state AS i USING (tenant_id, agent_id, session_id, source_id)
          WHERE r.tenant_id = %(tenant_id)s AND r.agent_id = %(agent_id)s AND r.session_id = g.session_id
            AND (r.at, r.source_id COLLATE "C") < (g.at, g.source_id) AND r.forgotten_at IS NULL
          ORDER BY r.at DESC, r.source_id COLLATE "C" DESC LIMIT %(before)s)
        UNION ALL
        (SELECT r.source_id FROM mnestic.resource AS r
           JOIN mnestic.ingest_state AS i USING (tenant_id, agent_id, session_id, source_id)
          WHERE r.tenant_id = %(tenant_id)s AND r.agent_id = %(agent_id)s AND r.session_id = g.session_id
            AND (r.at, r.source_id COLLATE "C") > (g.at, g.source_id) AND r.forgotten_at IS NULL
          ORDER BY r.at, r.source_id COLLATE "C" LIMIT %(after)s)
     ) AS n
    EXCEPT
    SELECT session_id, source_id FROM given
)
SELECT r.session_id, r.source_id, r.channel, r.speaker, r.content, r.at, r.offset_minutes,
       i.number, i.state, i.kind, i.entry_type, i.job_id, i.workflow_run, i.corrects, i.extractor, i.extracted,
       i.context, i.reason
  FROM near AS n
  JOIN mnestic.resource AS r
    ON r.tenant_id = %(tenant_id)s AND r.agent_id = %(agent_id)s
   AND r.session_id = n.session_id AND r.source_id = n.source_id
  JOIN mnestic.ingest_state AS i
    ON i.tenant_id = %(tenant_id)s AND i.agent_id = %(agent_id)s
   AND i.session_id = n.session_id AND i.source_id = n.source_id
 ORDER BY r.at, r.source_id COLLATE "C"
