-- The summaries of a context: of the life, of the latest two months, of the periods of a level within a time, latest first, and
-- of sessions that the question names.
SELECT -- include summary_columns
  FROM (
    (SELECT -- include summary_columns
       FROM mnestic.summary
      WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND level = 'life' LIMIT 1)
     UNION
    (SELECT -- include summary_columns
       FROM mnestic.summary
      WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND level = 'month' ORDER BY starts_at DESC LIMIT 2)
     UNION
    (SELECT -- include summary_columns
       FROM mnestic.summary
      WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND level = %(level)s
        AND starts_at < CAST(%(until)s AS timestamptz) AND ends_at > CAST(%(since)s AS timestamptz)
      ORDER BY starts_at DESC LIMIT 6)
     UNION
    (SELECT -- include summary_columns
       FROM mnestic.summary
      WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND level = 'session'
        AND session_id = ANY(CAST(%(sessions)s AS text[]))
      ORDER BY starts_at DESC LIMIT 3)) AS found
 WHERE text <> ''
 ORDER BY starts_at DESC, level
