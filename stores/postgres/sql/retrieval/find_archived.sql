-- The archived entries that may answer a query: the best by words (BM25) and by meaning, with the columns of `find_candidates.sql`.
-- They are in no index, so all of the agent's are read, once nothing live answers. They have numbers below 0, the newest the highest.
WITH
mine AS MATERIALIZED (
    SELECT a.id, CASE WHEN a.words @@ CAST(%(any_lexeme)s AS tsquery) THEN a.words END AS words,
           - (a.vectors[array_position(a.models, %(model)s)] <#> CAST(%(vector)s AS halfvec)) AS cosine
      FROM mnestic.archived_entry AS a
     WHERE a.tenant_id = %(tenant_id)s AND a.agent_id = %(agent_id)s AND a.reason IN ('unimportant', 'over_limit')
       AND (NOT CAST(%(is_filtered)s AS boolean)
            OR EXISTS (SELECT FROM jsonb_populate_record(CAST(NULL AS mnestic.entry), a.entry) AS e
                        WHERE -- include query_filters
))
),
by_words AS MATERIALIZED (
    SELECT m.id, bit_or(a.bit) AS bits,
           sum(a.weight * (frequency * 2.2::float8 / (frequency + 1.2::float8
               * (0.25::float8 + 0.75::float8 * length(m.words) / CAST(%(average_length)s AS float8))))) AS score
      FROM mine AS m
     CROSS JOIN LATERAL (SELECT lexeme, cardinality(positions) AS frequency FROM unnest(m.words)) AS w
      JOIN unnest(CAST(%(lexemes)s AS text[]), CAST(%(lexeme_weights)s AS float8[]), CAST(%(lexeme_bits)s AS bigint[]))
        AS a (lexeme, weight, bit) USING (lexeme)
     WHERE m.words IS NOT NULL
     GROUP BY m.id ORDER BY score DESC, m.id LIMIT CAST(%(pool)s AS integer)
),
by_meaning AS MATERIALIZED (
    SELECT id FROM mine WHERE cosine IS NOT NULL ORDER BY cosine DESC, id LIMIT CAST(%(pool)s AS integer)
)
SELECT - row_number() OVER (ORDER BY e.at DESC, e.id) AS number, e.id, e.session_id, e.speaker, CAST(e.subjects AS text) AS subjects,
       CAST(extract(epoch FROM e.at) AS float8) AS at, CAST(e.importance AS float8) AS importance,
       CAST(e.aliases AS text) AS aliases, CAST(e.tags AS text) AS tags, e.entry_type, CAST(e.times AS text) AS times,
       e.features, e.status, CAST(extract(epoch FROM e.expires_at) AS float8) AS expires_at, e.content, e.tokens,
       w.score AS bm25, w.bits, m.cosine, NULL AS half_passages, o.entry_id IS NOT NULL AS is_superseded,
       CASE WHEN CAST(%(is_filtered)s AS boolean) THEN true END AS is_allowed
  FROM (SELECT id FROM by_words UNION SELECT id FROM by_meaning) AS c
  JOIN mine AS m USING (id)
  LEFT JOIN by_words AS w USING (id)
 CROSS JOIN LATERAL (
    SELECT entry FROM mnestic.archived_entry
     WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND id = c.id OFFSET 0) AS a
 CROSS JOIN LATERAL jsonb_populate_record(CAST(NULL AS mnestic.entry), a.entry) AS e
  LEFT JOIN mnestic.supersession AS o ON o.tenant_id = %(tenant_id)s AND o.agent_id = %(agent_id)s AND o.entry_id = c.id
   AND o.at <= CAST(%(current_at)s AS timestamptz)
