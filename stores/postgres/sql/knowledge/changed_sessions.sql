-- The summaries of some sessions that are to be built, or to be removed if they have no messages any more: those whose digest
-- is another than that of the messages which they would be made of. A session has one in each of its weeks.
WITH found AS (
    SELECT s.name AS session_id,
           GREATEST(date_trunc('week', e.at, 'UTC'), date_trunc('month', e.at, 'UTC')) AS starts_at, count(*) AS messages,
           encode(sha256(convert_to(string_agg(e.id || ':' || encode(sha256(convert_to(e.content, 'UTF8')), 'hex'), ','
                                               ORDER BY e.at, e.id COLLATE "C"), 'UTF8')), 'hex') AS digest
      FROM unnest(CAST(%(sessions)s AS text[])) AS s (name)
     CROSS JOIN LATERAL (
-- include summarised_messages
     ) AS e
     GROUP BY s.name, 2
),
stored AS (
    SELECT session_id, starts_at, digest FROM mnestic.summary
     WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND level = 'session'
       AND session_id = ANY(CAST(%(sessions)s AS text[]))
       AND starts_at >= CAST(%(first)s AS timestamptz) AND starts_at < CAST(%(last)s AS timestamptz)
)
SELECT session_id, starts_at, COALESCE(f.messages, 0) AS messages, COALESCE(f.digest, '') AS digest
  FROM found AS f FULL JOIN stored AS s USING (session_id, starts_at)
 WHERE f.digest IS DISTINCT FROM s.digest
 ORDER BY session_id, starts_at
