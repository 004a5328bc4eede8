-- The summaries of weeks, months or the life that are to be built, or to be removed if nothing is below them any more: those
-- whose digest is another than that of the summaries of the level below.
WITH below AS (
    SELECT session_id, starts_at, ends_at, messages, digest,
           CASE CAST(%(level)s AS text) WHEN 'week' THEN starts_at
                                        WHEN 'month' THEN date_trunc('month', starts_at, 'UTC')
                                        ELSE min(starts_at) OVER () END AS period
      FROM mnestic.summary
     WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND level = %(below)s
       AND starts_at >= CAST(%(first)s AS timestamptz) AND starts_at < CAST(%(last)s AS timestamptz)
),
found AS (
    SELECT period AS starts_at, max(ends_at) AS ends_at, sum(messages) AS messages,
           encode(sha256(convert_to(string_agg(session_id || ':' || digest, ',' ORDER BY starts_at, session_id COLLATE "C"),
                                    'UTF8')), 'hex') AS digest
      FROM below GROUP BY period
),
stored AS (
    SELECT starts_at, ends_at, digest FROM mnestic.summary
     WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND level = %(level)s
       AND starts_at >= CAST(%(first)s AS timestamptz) AND starts_at < CAST(%(last)s AS timestamptz)
)
SELECT starts_at, COALESCE(f.ends_at, s.ends_at) AS ends_at, COALESCE(f.messages, 0) AS messages,
       COALESCE(f.digest, '') AS digest
  FROM found AS f FULL JOIN stored AS s USING (starts_at)
 WHERE f.digest IS DISTINCT FROM s.digest
 ORDER BY starts_at DESC
