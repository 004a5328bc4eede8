-- Pairs of entries that say nearly the same: messages of one month, older than 90 days, with the same names, from which no claim was
-- taken, which are near each other by their vectors, and of which none was merged or restored before. So that the work grows with the
-- number of entries, not all are compared: each is, with the next ones of the same names whose vectors have the same signs in one of
-- three places.
-- Vectors are read only if no more signs differ than the angle between them lets expect, and six standard deviations.
-- Source: Charikar, Similarity Estimation Techniques from Rounding Algorithms, 2002
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
                         e.subjects, e.tags, e.aliases, e.audience)) AS key
      FROM mnestic.entry AS e
     WHERE e.tenant_id = %(tenant_id)s AND e.agent_id = %(agent_id)s AND e.kind = 'message' AND e.status = 'active' AND NOT e.critical
       AND e.entry_type <> 'correction' AND e.replaces = '[]' AND e.merged_into IS NULL AND e.expires_at IS NULL AND e.parent IS NULL
       AND GREATEST(e.at, e.created_at) <= CAST(%(now)s AS timestamptz) - interval '90 days'
),
signed AS MATERIALIZED (
    SELECT a.number, a.key, binary_quantize(v.vector) AS signs, count(*) OVER (PARTITION BY a.key) AS others
      FROM old AS a
      JOIN mnestic.embedding AS v ON v.tenant_id = %(tenant_id)s AND v.agent_id = %(agent_id)s AND v.model = (SELECT model FROM model)
       AND v.entry_number = a.number
     WHERE NOT EXISTS (SELECT FROM mnestic.claim AS c
                        WHERE c.tenant_id = %(tenant_id)s AND c.agent_id = %(agent_id)s AND c.session_id = a.session_id
                          AND c.source_id = a.source_id OFFSET 0)
       AND -- include mergeable
),
placed AS MATERIALIZED (
    SELECT s.number, s.signs, array_agg(s.number) OVER next AS next_numbers, array_agg(s.signs) OVER next AS next_signs
      FROM (SELECT number, key, signs, CAST(ceil(ln(GREATEST(others / CAST(%(window)s AS float8), 1)) / ln(2)) AS integer) AS bits
              FROM signed WHERE others >= CAST(%(fewest)s AS integer) OFFSET 0) AS s
     CROSS JOIN generate_series(0, 2) AS p (part)
    WINDOW next AS (PARTITION BY s.key, p.part, substring(s.signs FROM 1 + p.part * length(s.signs) / 3 FOR s.bits)
                    ORDER BY s.number ROWS BETWEEN 1 FOLLOWING AND CAST(%(window)s AS bigint) FOLLOWING)
),
pairs AS MATERIALIZED (
    SELECT DISTINCT p.number AS one, n.number AS other
      FROM placed AS p
     CROSS JOIN (SELECT acos(CAST(%(compress_similarity)s AS float8)) / pi() AS share) AS differing
     CROSS JOIN LATERAL unnest(p.next_numbers, p.next_signs) AS n (number, signs)
     WHERE bit_count(p.signs # n.signs)
           <= length(p.signs) * differing.share + 6 * sqrt(length(p.signs) * differing.share * (1 - differing.share))
)
SELECT a.id AS one, b.id AS other
  FROM pairs AS p
 CROSS JOIN LATERAL (
    SELECT vector FROM mnestic.embedding
     WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND model = (SELECT model FROM model) AND entry_number = p.one OFFSET 0) AS v
 CROSS JOIN LATERAL (
    SELECT vector FROM mnestic.embedding
     WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND model = (SELECT model FROM model) AND entry_number = p.other OFFSET 0) AS w
 CROSS JOIN LATERAL (
    SELECT id FROM mnestic.entry WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND number = p.one OFFSET 0) AS a
 CROSS JOIN LATERAL (
    SELECT id FROM mnestic.entry WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND number = p.other OFFSET 0) AS b
 WHERE 1 - (v.vector <=> w.vector) >= CAST(%(compress_similarity)s AS float8)
 ORDER BY p.one, p.other LIMIT CAST(%(limit)s AS integer)
