-- The facts that fade next, by id: those of which so little confidence is left since `decay_facts`, and which nobody has said or
-- used for so long.
WITH
-- include waiting_roots
SELECT f.id, f.subject, f.predicate, f.object
  FROM mnestic.fact AS f
     -- include fact_support
 WHERE f.tenant_id = %(tenant_id)s AND f.agent_id = %(agent_id)s AND f.status = 'active' AND f.id > %(after)s
   AND s.is_lasting IS NOT TRUE AND f.decayed_confidence < CAST(%(fade_below_confidence)s AS float8)
   AND f.valid_from <= CAST(%(now)s AS timestamptz) - CAST(%(fade_after_days)s AS integer) * interval '1 day'
   AND GREATEST(s.said_at, s.used_at, own.last_accessed, f.used_at)
       <= CAST(%(now)s AS timestamptz) - CAST(%(fade_after_days)s AS integer) * interval '1 day'
   AND NOT EXISTS (SELECT FROM cited AS c WHERE c.id = f.id)
 ORDER BY f.id LIMIT CAST(%(limit)s AS integer)
