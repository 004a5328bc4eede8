-- How many archived entries have each of some lexemes, and how many there are.
SELECT (SELECT count(*) FROM mnestic.archived_entry
         WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s) AS entries,
       (SELECT json_object_agg(lexeme, entries)
          FROM (SELECT w.lexeme, count(*) AS entries
                  FROM mnestic.archived_entry AS a CROSS JOIN LATERAL unnest(a.words) AS w
                 WHERE a.tenant_id = %(tenant_id)s AND a.agent_id = %(agent_id)s AND a.reason IN ('unimportant', 'over_limit')
                   AND a.words @@ CAST(%(any_lexeme)s AS tsquery) AND w.lexeme = ANY(CAST(%(lexemes)s AS text[]))
                 GROUP BY w.lexeme) AS counted) AS counts
