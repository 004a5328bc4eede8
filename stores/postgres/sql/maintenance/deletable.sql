-- A fragment of other queries: the archived entries that a cleanup deletes. Not what this run has archived, nor what could not be
-- restored for 30 days.
SELECT k.id
  FROM mnestic.archived_entry AS a CROSS JOIN LATERAL jsonb_populate_record(CAST(NULL AS mnestic.entry), a.entry) AS k
 WHERE a.tenant_id = %(tenant_id)s AND a.agent_id = %(agent_id)s AND a.reason IN ('unimportant', 'over_limit')
   AND CAST(%(delete_archived)s AS boolean)
   AND a.run IS DISTINCT FROM %(run)s
   AND k.importance < CAST(%(min_importance_threshold)s AS real)
   AND GREATEST(k.at, k.created_at) <= CAST(%(now)s AS timestamptz) - CAST(%(max_age_days)s AS integer) * interval '1 day'
   AND GREATEST(k.at, k.last_accessed, a.archived_at)
       <= CAST(%(now)s AS timestamptz) - interval '30 days'
   AND -- include removable
