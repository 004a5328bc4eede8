-- The third statement of a search: the best candidates as entries. Two flags mark those that do not answer after all: their
-- claims are valid no longer, or the claims that the query touches have other subjects. `claims` are those of a message some of
-- which hold no longer.
SELECT e.number, e.id, e.session_id, e.content,
       CAST(jsonb_build_array(-- include stored_columns
           ) AS text) AS stored,
       CASE WHEN CAST(%(excludes_superseded)s AS boolean) THEN -- include superseded
            END AS is_superseded,
       CASE WHEN CAST(%(excludes_superseded)s AS boolean) AND e.kind = 'message' THEN (
            SELECT CASE WHEN NOT bool_and(claimed.holds)
                        THEN CAST(jsonb_agg(claimed.span || jsonb_build_object(
                                 'holds', claimed.holds, 'predicate', claimed.predicate, 'object', claimed.object)) AS text) END
              FROM -- include claimed
             WHERE claimed.span ->> 'start' IS NOT NULL)
            END AS claims,
       (SELECT CASE WHEN cardinality(CAST(%(fact_subjects)s AS text[])) > 0
                    THEN NOT bool_or(c.subject_key = ANY(CAST(%(fact_subjects)s AS text[])))
                    -- Of somebody of whom no fact is known, what names them may tell something.
                    WHEN cardinality(CAST(%(unknown_subjects)s AS text[])) > 0
                    THEN count(*) > 0 AND NOT EXISTS (
                        SELECT FROM unnest(CAST(%(unknown_subjects)s AS text[])) AS u (name)
                         WHERE to_tsvector('simple', e.content) @@ phraseto_tsquery('simple', u.name)) END
          FROM (SELECT predicate, subject_key FROM mnestic.claim
                 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s
                   AND session_id = e.session_id AND source_id = e.source_id
                 UNION ALL
                SELECT predicate, subject_key FROM mnestic.fact
                 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND id = e.id AND e.kind = 'fact') AS c
         WHERE c.predicate = ANY(CAST(%(touched_predicates)s AS text[]))) AS is_about_others
  FROM unnest(CAST(%(numbers)s AS bigint[])) AS n (number)
 CROSS JOIN LATERAL (
    SELECT * FROM mnestic.entry
     WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND number = n.number OFFSET 0) AS e
