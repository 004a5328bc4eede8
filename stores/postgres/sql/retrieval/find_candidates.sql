-- The second statement of a search: the candidates of all sources, each with the columns that ranking reads. A source that
-- is not needed gets empty arrays, so that there is one statement with a plan that is reused. Entries are looked up one by
-- one (OFFSET 0): where most agents are small, the planner would choose a join that reads all entries of a large one.
WITH
-- Filters. Without filters a query searches all entries; archived and expired ones are left out afterwards.
allowed AS MATERIALIZED (
    SELECT e.number FROM mnestic.entry AS e
     WHERE CAST(%(is_filtered)s AS boolean) AND e.tenant_id = %(tenant_id)s AND e.agent_id = %(agent_id)s
       AND -- include query_filters
       AND (CAST(%(tags)s AS text[]) IS NULL OR e.number IN (
            SELECT entry_number FROM mnestic.entry_term
             WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND kind = 'tag'
               AND term = ANY(CAST(%(tags)s AS text[]))))
       AND (CAST(%(subject)s AS text) IS NULL OR e.number IN (
            SELECT entry_number FROM mnestic.entry_term
             WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND kind IN ('subject', 'alias')
               AND term = CAST(%(subject)s AS text)))
),
-- Words: BM25 by the postings alone, with a bit for each word of the query. Weights are inverse document frequencies. A
-- keyword (an acronym, or a word of a predicate) counts once, as in an entry of average length. An entry of more than 20 lexemes is chosen by `reach`, as if it
-- were no longer than the average.
by_words AS MATERIALIZED (
    SELECT number, sum(score) AS score, sum(reach) AS reach, sum(keyword) AS keywords, bit_or(bit) AS bits, max(length) AS length
      FROM (
    SELECT p.entry_number AS number,
           a.weight * (p.frequency * 2.2::float8 / (p.frequency + 1.2::float8
               * (0.25::float8 + 0.75::float8 * p.length / CAST(%(average_length)s AS float8)))) AS score,
           a.weight * (p.frequency * 2.2::float8 / (p.frequency + 1.2::float8
               * (0.25::float8 + 0.75::float8 * least(p.length / CAST(%(average_length)s AS float8),
                                                      CASE WHEN p.length > 20 THEN 1 END)))) AS reach,
           0::float8 AS keyword, a.bit, p.length
      FROM unnest(CAST(%(lexemes)s AS text[]), CAST(%(lexeme_weights)s AS float8[]), CAST(%(lexeme_bits)s AS bigint[]))
        AS a (lexeme, weight, bit)
     CROSS JOIN LATERAL (
        SELECT entry_number, frequency, length FROM mnestic.posting CROSS JOIN LATERAL mnestic.unpack_postings(postings)
         WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND lexeme = a.lexeme OFFSET 0) AS p
     UNION ALL
    SELECT t.entry_number, a.weight, a.weight, a.weight, a.bit, 0
      FROM unnest(CAST(%(keywords)s AS text[]), CAST(%(keyword_weights)s AS float8[]), CAST(%(keyword_bits)s AS bigint[]))
        AS a (term, weight, bit)
     CROSS JOIN LATERAL (
        SELECT entry_number FROM mnestic.entry_term
         WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND kind = 'keyword' AND term = a.term OFFSET 0) AS t
    ) AS found
     WHERE NOT CAST(%(is_filtered)s AS boolean) OR number IN (SELECT number FROM allowed)
     GROUP BY number ORDER BY reach DESC, number DESC LIMIT CAST(%(pool)s AS integer)
),
-- The best passage of each of the 20 best entries of twice the average length, or of more than a prompt quotes (some 80
-- lexemes), up to 30,000 lexemes: a passage is two halves of 20 words, and is scored like an entry of average length. So words
-- far apart do not count together. Postgres counts the places of 16,383 words, about 100,000 characters.
by_passage AS MATERIALIZED (
    SELECT DISTINCT ON (number) number, score, bits, ARRAY[half, halves] AS half_passages
      FROM (SELECT number, half, halves, bit_or(bit) AS bits,
                   sum(weight * frequency * 2.2::float8 / (frequency + 1.2::float8)) AS score
              FROM (SELECT l.number, p.half, w.halves, a.bit, max(a.weight) AS weight, count(*) AS frequency
                      FROM (SELECT number, sum(least(length, 8000)) OVER (ORDER BY reach DESC, number DESC) AS lexemes
                              FROM by_words WHERE length > least(80, greatest(20, 2 * CAST(%(average_length)s AS float8)))
                             ORDER BY reach DESC, number DESC LIMIT 20) AS l
                     CROSS JOIN LATERAL (
                        SELECT language, left(content, 100000) AS content FROM mnestic.entry
                         WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND number = l.number OFFSET 0) AS e
                     CROSS JOIN LATERAL (
                        SELECT lexeme, positions, max(positions[cardinality(positions)]) OVER () / 20 AS halves
                          FROM unnest(to_tsvector(CAST(e.language AS regconfig), mnestic.words_apart(e.content)))) AS w
                      JOIN unnest(CAST(%(lexemes)s AS text[]), CAST(%(lexeme_weights)s AS float8[]),
                                  CAST(%(lexeme_bits)s AS bigint[])) AS a (lexeme, weight, bit) USING (lexeme)
                     CROSS JOIN LATERAL unnest(w.positions) AS position
                     CROSS JOIN LATERAL (VALUES (position / 20), (position / 20 - 1)) AS p (half)
                     WHERE l.lexemes <= 30000
                     GROUP BY l.number, p.half, w.halves, a.bit) AS word
             GROUP BY number, half, halves) AS passage
     ORDER BY number, score DESC, half
),
-- Words of names, if the query has no other known word, or the named people are not speakers.
by_name_words AS MATERIALIZED (
    SELECT p.entry_number AS number,
           sum(a.weight * (p.frequency * 2.2::float8 / (p.frequency + 1.2::float8
               * (0.25::float8 + 0.75::float8 * p.length / CAST(%(average_length)s AS float8))))) AS score
      FROM unnest(CAST(%(name_lexemes)s AS text[]), CAST(%(name_lexeme_weights)s AS float8[])) AS a (lexeme, weight)
     CROSS JOIN LATERAL (
        SELECT entry_number, frequency, length FROM mnestic.posting CROSS JOIN LATERAL mnestic.unpack_postings(postings)
         WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND lexeme = a.lexeme OFFSET 0) AS p
     WHERE NOT CAST(%(is_filtered)s AS boolean) OR p.entry_number IN (SELECT number FROM allowed)
     GROUP BY p.entry_number ORDER BY score DESC, number DESC LIMIT 30
),
-- Meaning: all vectors of the agent, or its vector index if there is one.
by_meaning AS MATERIALIZED (
    SELECT number, score
      FROM mnestic.nearest_vectors(%(tenant_id)s, %(agent_id)s, %(model)s, CAST(%(vector)s AS halfvec),
                                   CAST(%(pool)s AS integer), CAST(%(is_indexed)s AS boolean))
     WHERE CAST(%(vector)s AS halfvec) IS NOT NULL AND NOT CAST(%(is_filtered)s AS boolean)
     UNION ALL
    (SELECT v.entry_number, - (v.vector <#> CAST(%(vector)s AS halfvec)) FROM mnestic.embedding AS v
      WHERE CAST(%(vector)s AS halfvec) IS NOT NULL AND CAST(%(is_filtered)s AS boolean)
        AND v.tenant_id = %(tenant_id)s AND v.agent_id = %(agent_id)s AND v.model = %(model)s
        AND v.entry_number IN (SELECT number FROM allowed)
      ORDER BY v.vector <#> CAST(%(vector)s AS halfvec) LIMIT CAST(%(pool)s AS integer))
),
-- Names, tags and aliases: the newest entries of each.
by_name AS MATERIALIZED (
    SELECT newest.number FROM unnest(CAST(%(kinds)s AS text[]), CAST(%(terms)s AS text[])) AS k (kind, term)
     CROSS JOIN LATERAL (
        SELECT entry_number AS number FROM mnestic.entry_term
         WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND kind = k.kind AND term = k.term
           AND (NOT CAST(%(is_filtered)s AS boolean) OR entry_number IN (SELECT number FROM allowed))
         ORDER BY entry_number DESC LIMIT 30) AS newest
),
-- Time: the last entries of the period.
by_time AS MATERIALIZED (
    SELECT e.number FROM mnestic.entry AS e
     WHERE e.tenant_id = %(tenant_id)s AND e.agent_id = %(agent_id)s
       AND e.at >= CAST(%(period_start)s AS timestamptz) AND e.at < CAST(%(period_end)s AS timestamptz)
       AND CASE WHEN CAST(%(is_filtered)s AS boolean) THEN e.number IN (SELECT number FROM allowed)
                ELSE e.status = 'active' AND (e.expires_at IS NULL OR e.expires_at > now()) END
     ORDER BY e.at DESC, e.number DESC LIMIT 100
),
-- Words and meaning together, weighed as ranking does.
scored AS MATERIALIZED (
    SELECT number, w.score AS bm25, w.bits, m.score AS cosine,
           CAST(%(semantic)s AS float8) * greatest(0, least(1,
               (COALESCE(m.score, 0) - CAST(%(min_cosine)s AS float8)) / CAST(%(cosine_range)s AS float8)))
               * CASE WHEN CAST(%(is_by_words)s AS boolean) AND w.bits IS NULL THEN 0 ELSE 1 END
           + CAST(%(lexical)s AS float8) * least(1, COALESCE(w.score, 0) / CAST(%(full_score)s AS float8)) AS own
      FROM (SELECT number, greatest(w.score, p.score + w.keywords) AS score, COALESCE(p.bits, w.bits) AS bits
              FROM by_words AS w LEFT JOIN by_passage AS p USING (number)) AS w
      FULL JOIN by_meaning AS m USING (number)
),
-- The best entries propagate their scores to neighbours in the conversation and to related entries, unless superseded.
seed AS MATERIALIZED (
    SELECT e.number, s.own, e.session_id, e.at, e.id, e.entry_type, e.related, o.by AS successor,
           CAST(%(excludes_superseded)s AS boolean) AND o.entry_id IS NOT NULL AS is_superseded
      FROM (SELECT number, own FROM scored WHERE own > 0 ORDER BY own DESC, number DESC
             LIMIT CAST(%(propagation_seeds)s AS integer)) AS s
     CROSS JOIN LATERAL (
        SELECT number, session_id, at, id, entry_type, related FROM mnestic.entry
         WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND number = s.number OFFSET 0) AS e
      LEFT JOIN mnestic.supersession AS o ON o.tenant_id = %(tenant_id)s AND o.agent_id = %(agent_id)s AND o.entry_id = e.id
       AND o.at <= CAST(%(current_at)s AS timestamptz)
),
edge AS MATERIALIZED (
    SELECT s.number AS seed, x.number, x.kind, s.own * CASE x.kind WHEN 'neighbour' THEN CAST(%(neighbour)s AS float8)
                                                         WHEN 'second_neighbour' THEN CAST(%(second_neighbour)s AS float8)
                                                         ELSE CAST(%(related)s AS float8) END AS score
      FROM seed AS s CROSS JOIN LATERAL (
        -- Two turns before and two after, the nearest first. An entry in these places that is no turn gets nothing.
        SELECT number, CASE place WHEN 1 THEN 'neighbour' ELSE 'second_neighbour' END AS kind
          FROM (SELECT number, entry_type, row_number() OVER (ORDER BY at DESC, number DESC) AS place
                  FROM (SELECT number, entry_type, at FROM mnestic.entry
                         WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND session_id = s.session_id
                           AND (at, number) < (s.at, s.number) ORDER BY at DESC, number DESC LIMIT 2) AS before) AS turn
         WHERE s.entry_type = 'interaction' AND entry_type = 'interaction'
         UNION ALL
        SELECT number, CASE place WHEN 1 THEN 'neighbour' ELSE 'second_neighbour' END
          FROM (SELECT number, entry_type, row_number() OVER (ORDER BY at, number) AS place
                  FROM (SELECT number, entry_type, at FROM mnestic.entry
                         WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND session_id = s.session_id
                           AND (at, number) > (s.at, s.number) ORDER BY at, number LIMIT 2) AS after) AS turn
         WHERE s.entry_type = 'interaction' AND entry_type = 'interaction'
         UNION ALL
        SELECT e.number, 'related' FROM jsonb_array_elements_text(s.related) AS r (id)
         CROSS JOIN LATERAL (SELECT number FROM mnestic.entry
                              WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND id = r.id OFFSET 0) AS e
         UNION ALL
        SELECT entry_number, 'related' FROM mnestic.entry_term
         WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND kind = 'related' AND term = s.id
      ) AS x
     WHERE NOT s.is_superseded
     UNION ALL
    -- What has superseded an entry answers in its place; of several in a row the last.
    SELECT seed, number, 'successor', own
      FROM (WITH RECURSIVE succession AS (
                SELECT number AS seed, own, number, successor FROM seed WHERE is_superseded
                 UNION
                SELECT s.seed, s.own, e.number, o.by
                  FROM succession AS s
                 CROSS JOIN LATERAL (
                    SELECT number, id FROM mnestic.entry
                     WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND id = s.successor OFFSET 0) AS e
                  LEFT JOIN mnestic.supersession AS o ON o.tenant_id = %(tenant_id)s AND o.agent_id = %(agent_id)s
                   AND o.entry_id = e.id AND o.at <= CAST(%(current_at)s AS timestamptz))
            SELECT seed, own, number FROM succession) AS succeeding
     WHERE number <> seed
),
-- Entries below the propagation floor are not read.
propagated AS (
    SELECT number FROM edge GROUP BY number
    HAVING sum(score) >= CAST(%(min_propagated_share)s AS float8) * (SELECT max(own) FROM seed)
),
candidate AS MATERIALIZED (
    SELECT number FROM scored UNION SELECT number FROM by_name_words UNION SELECT number FROM by_name
     UNION SELECT number FROM by_time UNION SELECT number FROM propagated
)
SELECT e.number, e.id, e.session_id, e.speaker, CAST(e.subjects AS text) AS subjects,
       CAST(extract(epoch FROM e.at) AS float8) AS at, CAST(e.importance AS float8) AS importance,
       CAST(e.aliases AS text) AS aliases, CAST(e.tags AS text) AS tags, e.entry_type, CAST(e.times AS text) AS times,
       e.features, e.status, CAST(extract(epoch FROM e.expires_at) AS float8) AS expires_at, e.content, e.tokens,
       s.bm25, s.bits, s.cosine, w.half_passages, from_seed.edges,
       o.entry_id IS NOT NULL AS is_superseded,
       CASE WHEN CAST(%(is_filtered)s AS boolean) THEN c.number IN (SELECT number FROM allowed) END AS is_allowed
  FROM candidate AS c
 CROSS JOIN LATERAL (
    SELECT number, id, session_id, speaker, subjects, aliases, tags, entry_type, times, features, importance, status, content, tokens,
           at, expires_at
      FROM mnestic.entry
     WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND number = c.number OFFSET 0) AS e
  LEFT JOIN scored AS s ON s.number = c.number
  LEFT JOIN mnestic.supersession AS o ON o.tenant_id = %(tenant_id)s AND o.agent_id = %(agent_id)s AND o.entry_id = e.id
   AND o.at <= CAST(%(current_at)s AS timestamptz)
  LEFT JOIN by_passage AS w ON w.number = c.number
  LEFT JOIN (SELECT seed AS number, json_agg(json_build_array(number, kind)) AS edges FROM edge GROUP BY seed)
         AS from_seed ON from_seed.number = c.number
