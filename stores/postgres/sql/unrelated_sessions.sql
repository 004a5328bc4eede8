-- Of what others said, what was said in conversations where nobody whom the question names is mentioned, with who spoke
-- there. Each conversation is looked through once, and one of more than 300 turns is taken to mention everybody. A text
-- that has not even the letters of a name is passed over before the pattern is tried.
WITH said AS MATERIALIZED (
    SELECT number, session_id FROM mnestic.entry
     WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND number = ANY(CAST(%(numbers)s AS bigint[]))
       AND session_id IS NOT NULL
),
unrelated AS MATERIALIZED (
    SELECT s.session_id, heard.speakers
      FROM (SELECT DISTINCT session_id FROM said) AS s
     CROSS JOIN LATERAL (
           SELECT array_agg(DISTINCT speaker) AS speakers, count(*) AS turns,
                  bool_or((CAST(%(letters)s AS text[]) IS NULL
                           OR EXISTS (SELECT FROM unnest(CAST(%(letters)s AS text[])) AS l (letters)
                                       WHERE strpos(lower(content), l.letters) > 0))
                          AND content ~* CAST(%(pattern)s AS text)) AS is_mentioned
             FROM (SELECT COALESCE(e.speaker, '') AS speaker, e.content FROM mnestic.entry AS e
                    WHERE e.tenant_id = %(tenant_id)s AND e.agent_id = %(agent_id)s AND e.session_id = s.session_id
                    LIMIT 301) AS turn) AS heard
     WHERE heard.turns <= 300 AND NOT heard.is_mentioned
)
SELECT said.number, unrelated.speakers FROM said JOIN unrelated USING (session_id)
