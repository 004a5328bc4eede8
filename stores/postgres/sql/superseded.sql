-- A fragment of other queries: whether the entry e says what is so no longer, now or in the interval of the query. Of a
-- message: a correction names it, or no claim of it is valid; null without either. If some claims have predicates that the query is about, only these
-- count. Where none has, a message whose other clauses answer is not superseded. Where none has, and of an episode: its text
-- has a value that another has replaced. An entry of a fact is valid while the fact is.
CASE WHEN e.kind = 'fact' THEN
     NOT EXISTS (SELECT FROM mnestic.fact AS f
                  WHERE f.tenant_id = %(tenant_id)s AND f.agent_id = %(agent_id)s AND f.id = e.id
                    AND CASE WHEN CAST(%(valid_first)s AS timestamptz) IS NULL
                             THEN f.status <> 'deleted' AND (f.valid_to IS NULL OR f.valid_to > now())
                             ELSE -- include valid_then
                             END)
     ELSE
 -- include corrected
 OR
 (SELECT COALESCE(bool_and(NOT claimed.holds) FILTER (WHERE claimed.predicate = ANY(CAST(%(related_predicates)s AS text[]))),
                  bool_and(NOT claimed.holds) AND NOT CASE WHEN bool_and(NOT claimed.holds) THEN -- include other_clauses
                      END
                  OR -- include replaced_value
                  )
    FROM -- include claimed
    )
END
