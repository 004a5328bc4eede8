-- The facts that fade next: those of which so little confidence is left since `decay_facts`, and which nobody has said or used for so
-- long. They come by topic, since a fact that fades has the others of its topic resolved anew: so many facts by id, and
-- all that share a topic with one of them. `last` is the last by id, if there may be more.
WITH
-- include waiting_roots
,
fading AS NOT MATERIALIZED (
    SELECT f.id, f.subject, f.subject_key, f.predicate, f.object
      FROM mnestic.fact AS f
     -- include fact_support
     WHERE f.tenant_id = %(tenant_id)s AND f.agent_id = %(agent_id)s AND f.status = 'active'
       AND s.is_lasting IS NOT TRUE AND f.decayed_confidence < CAST(%(fade_below_confidence)s AS float8)
       AND f.valid_from <= CAST(%(now)s AS timestamptz) - CAST(%(fade_after_days)s AS integer) * interval '1 day'
       AND GREATEST(s.said_at, s.used_at, own.last_accessed, f.used_at)
           <= CAST(%(now)s AS timestamptz) - CAST(%(fade_after_days)s AS integer) * interval '1 day'
       AND NOT EXISTS (SELECT FROM cited AS c WHERE c.id = f.id)
),
next AS MATERIALIZED (
    SELECT id, subject_key, predicate FROM fading WHERE id > %(after)s ORDER BY id LIMIT CAST(%(limit)s AS integer)
)
SELECT f.id, f.subject, f.predicate, f.object,
       (SELECT max(id) FROM next HAVING count(*) = CAST(%(limit)s AS integer)) AS last
  FROM fading AS f
 WHERE (f.subject_key, f.predicate) IN (SELECT subject_key, predicate FROM next)
 ORDER BY f.id
