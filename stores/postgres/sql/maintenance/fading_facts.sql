-- The facts that fade next: of so many by id whose confidence is low since `decay_facts`, and of all that share a topic with one
-- of them, those which were neither learned nor used for so long. They come by topic, since a fact that fades has the others of its topic
-- resolved anew. `last` is the last of so many by id, if there may be more.
WITH
-- include waiting_roots
,
next AS MATERIALIZED (
    SELECT id, subject_key, predicate FROM mnestic.fact
     WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND status = 'active'
       AND decayed_confidence < CAST(%(fade_below_confidence)s AS float8) AND id > %(after)s
     ORDER BY id LIMIT CAST(%(limit)s AS integer)
),
fading AS MATERIALIZED (
    SELECT f.id, f.subject, f.predicate, f.object
      FROM mnestic.fact AS f
     -- include fact_support
     WHERE f.tenant_id = %(tenant_id)s AND f.agent_id = %(agent_id)s AND f.status = 'active'
       AND (f.subject_key, f.predicate) IN (SELECT subject_key, predicate FROM next)
       AND s.is_lasting IS NOT TRUE AND f.decayed_confidence < CAST(%(fade_below_confidence)s AS float8)
       AND f.valid_from <= CAST(%(now)s AS timestamptz) - CAST(%(fade_after_days)s AS integer) * interval '1 day'
       AND GREATEST(s.learned_at, s.used_at, own.last_accessed, f.used_at)
           <= CAST(%(now)s AS timestamptz) - CAST(%(fade_after_days)s AS integer) * interval '1 day'
       AND NOT EXISTS (SELECT FROM cited AS c WHERE c.id = f.id)
)
SELECT array_agg(id ORDER BY id) AS ids, array_agg(subject ORDER BY id) AS subjects,
       array_agg(predicate ORDER BY id) AS predicates, array_agg(object ORDER BY id) AS objects,
       (SELECT max(id) FROM next HAVING count(*) = CAST(%(limit)s AS integer)) AS last
  FROM fading
