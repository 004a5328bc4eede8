-- Pairs of old entries that say nearly the same: messages of one month with the same names, from which no claim was taken, which are
-- near each other by their vectors, and of which none was merged or restored before. So that the work grows with the number of
-- entries, not all are compared: each is, with the next ones of the same names whose vectors have the same signs in one of three places.
WITH
-- include waiting_roots
,
model AS MATERIALIZED (
    SELECT model FROM mnestic.embedding_model
     WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s ORDER BY entries DESC, model LIMIT 1
),
old AS MATERIALIZED (
    SELECT e.id, e.number, e.session_id, e.source_id,
           md5(concat_ws(E'\x1f', date_trunc('month', e.at, 'UTC'), e.entry_type, COALESCE(e.speaker, ''), COALESCE(e.channel, ''),
                         e.subjects, e.tags, e.aliases)) AS key
      FROM mnestic.entry AS e
     WHERE e.tenant_id = %(tenant_id)s AND e.agent_id = %(agent_id)s AND e.kind = 'message' AND e.status = 'active' AND NOT e.critical
       AND e.entry_type <> 'correction' AND e.merged_into IS NULL AND e.expires_at IS NULL AND e.parent IS NULL
       AND e.at <= CAST(%(now)s AS timestamptz) - CAST(%(compress_after_days)s AS integer) * interval '1 day'
),
signed AS MATERIALIZED (
    SELECT a.id, a.number, a.key, CAST(binary_quantize(v.vector) AS text) AS signs, count(*) OVER (PARTITION BY a.key) AS others
      FROM old AS a
      JOIN mnestic.embedding AS v ON v.tenant_id = %(tenant_id)s AND v.agent_id = %(agent_id)s AND v.model = (SELECT model FROM model)
       AND v.entry_number = a.number
     WHERE NOT EXISTS (SELECT FROM mnestic.claim AS c
                        WHERE c.tenant_id = %(tenant_id)s AND c.agent_id = %(agent_id)s AND c.session_id = a.session_id
                          AND c.source_id = a.source_id OFFSET 0)
       AND -- include mergeable
),
placed AS MATERIALIZED (
    SELECT s.id, s.number, p.part, s.key, b.bits, row_number() OVER (PARTITION BY s.key, p.part, b.bits ORDER BY s.number) AS place
      FROM signed AS s CROSS JOIN generate_series(0, 2) AS p (part)
     CROSS JOIN LATERAL (
        SELECT substr(s.signs, 1 + p.part * length(s.signs) / 3,
                      CAST(ceil(log(2, GREATEST(s.others / CAST(%(window)s AS numeric), 1))) AS integer)) AS bits) AS b
     WHERE s.others >= CAST(%(fewest)s AS integer)
),
pairs AS MATERIALIZED (
    SELECT DISTINCT a.id AS one, b.id AS other, a.number, b.number AS other_number
      FROM placed AS a CROSS JOIN generate_series(1, CAST(%(window)s AS integer)) AS next (place)
      JOIN placed AS b ON b.key = a.key AND b.part = a.part AND b.bits = a.bits AND b.place = a.place + next.place
)
SELECT p.one, p.other
  FROM pairs AS p
  JOIN mnestic.embedding AS v ON v.tenant_id = %(tenant_id)s AND v.agent_id = %(agent_id)s AND v.model = (SELECT model FROM model)
   AND v.entry_number = p.number
  JOIN mnestic.embedding AS w ON w.tenant_id = %(tenant_id)s AND w.agent_id = %(agent_id)s AND w.model = v.model
   AND w.entry_number = p.other_number
 WHERE 1 - (v.vector <=> w.vector) >= CAST(%(compress_similarity)s AS float8)
 ORDER BY p.number, p.other_number LIMIT CAST(%(limit)s AS integer)
