-- Clears the summaries that were made of messages which have changed or are gone, and those above them. The messages are given
-- by session and time, by the claims that they state, or by the ids of their entries. Summaries are made of what everybody may read.
WITH changed AS (
    SELECT session_id, at FROM unnest(CAST(%(sessions)s AS text[]), CAST(%(moments)s AS timestamptz[])) AS p (session_id, at)
     UNION ALL
    SELECT session_id, said_at FROM mnestic.claim
     WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND id = ANY(CAST(%(claims)s AS text[])) AND source_id IS NOT NULL
       AND audience = 0
     UNION ALL
    SELECT COALESCE(session_id, ''), at FROM mnestic.entry
     WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND id = ANY(CAST(%(entries)s AS text[])) AND audience = 0
     UNION ALL
    SELECT COALESCE(session_id, ''), CAST(entry ->> 'at' AS timestamptz) FROM mnestic.archived_entry
     WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND id = ANY(CAST(%(entries)s AS text[])) AND audience = 0
),
gone AS (
    DELETE FROM mnestic.summary AS s USING changed AS c
     WHERE s.tenant_id = %(tenant_id)s AND s.agent_id = %(agent_id)s AND s.level = 'session' AND s.session_id = c.session_id
       AND s.starts_at <= c.at AND c.at < s.ends_at
    RETURNING s.starts_at
)
DELETE FROM mnestic.summary AS s USING gone AS g
 WHERE s.tenant_id = %(tenant_id)s AND s.agent_id = %(agent_id)s AND s.level <> 'session'
   AND s.starts_at <= g.starts_at AND g.starts_at < s.ends_at
