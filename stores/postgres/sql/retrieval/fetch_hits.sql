-- The third statement of a search: the best candidates as entries. `claims` are those of a message some of which hold no longer: each
-- `is_asked` if it has words of the query, and the `successor` of one that has ended is the last message about the same.
-- The message `holds` if it has words of the query beside the claims that have ended. A reinstated one has no such claims.
SELECT e.number, e.id, e.session_id, e.content,
       CAST(jsonb_build_array(-- include stored_columns
           ) AS text) AS stored,
       CAST(stated.claims AS text) AS claims,
       tsvector_to_array(to_tsvector(CAST(e.language AS regconfig), mnestic.words_apart(stated.holding))) && CAST(%(query_lexemes)s AS text[]) AS holds
  FROM unnest(CAST(%(numbers)s AS bigint[])) AS n (number)
 CROSS JOIN LATERAL (
    SELECT e.number, e.id, e.session_id, e.content, e.language, -- include stored_columns
      FROM mnestic.entry AS e
     WHERE e.tenant_id = %(tenant_id)s AND e.agent_id = %(agent_id)s AND e.number = n.number OFFSET 0) AS e
  LEFT JOIN LATERAL (
    SELECT jsonb_agg(c.span || jsonb_build_object('holds', c.holds, 'predicate', c.predicate, 'object', c.object,
               'is_asked', tsvector_to_array(to_tsvector(CAST(e.language AS regconfig), mnestic.words_apart(
                               substr(left(e.content, 100000), lower(c.part) + 1, upper(c.part) - lower(c.part)))))
                           && CAST(%(query_lexemes)s AS text[]),
               'successor', CASE WHEN NOT c.holds THEN (
                   SELECT m.number FROM mnestic.claim AS x CROSS JOIN LATERAL (
                       SELECT number FROM mnestic.entry WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND kind = 'message'
                          AND session_id = x.session_id AND at = x.said_at AND source_id = x.source_id OFFSET 0) AS m
                    WHERE x.tenant_id = %(tenant_id)s AND x.agent_id = %(agent_id)s AND x.subject_key = c.subject_key
                      AND x.predicate = c.predicate AND x.said_at > e.at AND x.said_at <= CAST(%(current_at)s AS timestamptz)
                    ORDER BY x.said_at DESC, x.id LIMIT 1) END)) AS claims,
           (SELECT string_agg(substr(left(e.content, 100000), lower(part) + 1, upper(part) - lower(part)), ' ')
              FROM unnest(int4multirange(int4range(0, length(left(e.content, 100000)))) - range_agg(c.part) FILTER (WHERE NOT c.holds)
                          + COALESCE(range_agg(c.part) FILTER (WHERE c.holds), int4multirange())) AS part) AS holding
      FROM (SELECT c.subject_key, c.predicate, c.object, c.source -> 'span' AS span,
                   int4range(CAST(c.source -> 'span' ->> 'start' AS integer), CAST(c.source -> 'span' ->> 'end' AS integer)) AS part,
                   EXISTS (SELECT FROM mnestic.fact AS f
                            WHERE f.tenant_id = %(tenant_id)s AND f.agent_id = %(agent_id)s
                              AND f.subject_key = c.subject_key AND f.predicate = c.predicate AND f.claims ? c.id
                              AND f.status <> 'deleted' AND COALESCE(f."end", '') NOT IN ('corrected', 'undone')
                              AND (f.valid_to IS NULL OR f."end" = 'past' OR f.valid_to > CAST(%(current_at)s AS timestamptz))
                            OFFSET 0) AS holds
              FROM mnestic.claim AS c
             WHERE c.tenant_id = %(tenant_id)s AND c.agent_id = %(agent_id)s AND c.kind IN ('affirmed', 'corrected')
               AND c.session_id = e.session_id AND c.source_id = e.source_id AND c.source -> 'span' ->> 'start' IS NOT NULL) AS c
    HAVING NOT bool_and(c.holds)) AS stated
    ON CAST(%(excludes_superseded)s AS boolean) AND e.kind = 'message' AND e.reinstated_at IS NULL
