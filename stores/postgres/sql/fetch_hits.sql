-- The third statement of a search: the best candidates as entries. `claims` are those of a message some of which hold no longer.
-- Such a message `is_outdated` if it has words of the query where these make claims, and none anywhere else; a reinstated one never is.
SELECT e.number, e.id, e.session_id, e.content,
       CAST(jsonb_build_array(-- include stored_columns
           ) AS text) AS stored,
       CAST(outdated.claims AS text) AS claims,
       (SELECT bool_or(lexeme = ANY(CAST(%(query_lexemes)s AS text[]))) AND NOT bool_or(lexeme = ANY(CAST(%(query_lexemes)s AS text[])) AND holds)
          FROM (SELECT w.lexeme, part.holds
                  FROM (VALUES (outdated.holding, true), (outdated.ended, false)) AS part (text, holds)
                 CROSS JOIN LATERAL unnest(tsvector_to_array(to_tsvector(CAST(e.language AS regconfig),
                                                                         mnestic.words_apart(part.text)))) AS w (lexeme)) AS word
       ) AS is_outdated
  FROM unnest(CAST(%(numbers)s AS bigint[])) AS n (number)
 CROSS JOIN LATERAL (
    SELECT * FROM mnestic.entry
     WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND number = n.number OFFSET 0) AS e
  LEFT JOIN LATERAL (
    SELECT spans.claims,
           (SELECT string_agg(substr(left(e.content, 100000), lower(part) + 1, upper(part) - lower(part)), ' ') FROM unnest(spans.ended) AS part) AS ended,
           (SELECT string_agg(substr(left(e.content, 100000), lower(part) + 1, upper(part) - lower(part)), ' ')
              FROM unnest(int4multirange(int4range(0, length(left(e.content, 100000)))) - spans.ended) AS part) AS holding
      FROM (SELECT range_agg(int4range(CAST(c.span ->> 'start' AS integer), CAST(c.span ->> 'end' AS integer))) FILTER (WHERE NOT c.holds)
                   - COALESCE(range_agg(int4range(CAST(c.span ->> 'start' AS integer), CAST(c.span ->> 'end' AS integer))) FILTER (WHERE c.holds),
                              int4multirange()) AS ended,
                   jsonb_agg(c.span || jsonb_build_object('holds', c.holds, 'predicate', c.predicate, 'object', c.object)) AS claims
              FROM (SELECT c.predicate, c.object, c.source -> 'span' AS span,
                           EXISTS (SELECT FROM mnestic.fact AS f
                                    WHERE f.tenant_id = %(tenant_id)s AND f.agent_id = %(agent_id)s
                                      AND f.subject_key = c.subject_key AND f.predicate = c.predicate AND f.claims ? c.id
                                      AND f.status <> 'deleted' AND COALESCE(f."end", '') NOT IN ('corrected', 'undone')
                                      AND (f.valid_to IS NULL OR f."end" = 'past' OR f.valid_to > CAST(%(current_at)s AS timestamptz))
                                    OFFSET 0) AS holds
                      FROM mnestic.claim AS c
                     WHERE c.tenant_id = %(tenant_id)s AND c.agent_id = %(agent_id)s AND c.kind IN ('affirmed', 'corrected')
                       AND c.session_id = e.session_id AND c.source_id = e.source_id AND c.source -> 'span' ->> 'start' IS NOT NULL) AS c
            HAVING NOT bool_and(c.holds)) AS spans) AS outdated
    ON CAST(%(excludes_superseded)s AS boolean) AND e.kind = 'message' AND e.reinstated_at IS NULL
