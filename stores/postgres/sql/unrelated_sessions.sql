-- Entries by other people in sessions where nobody mentions the people whom the query names, with the speakers of these
-- sessions. Each session is searched once; a session of more than 300 turns counts as one that mentions everybody. The
-- pattern is tried only on texts that contain the letters of a name.
WITH by_others AS MATERIALIZED (
    SELECT number, session_id FROM mnestic.entry
     WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND number = ANY(CAST(%(numbers)s AS bigint[]))
       AND session_id IS NOT NULL
),
unrelated AS MATERIALIZED (
    SELECT s.session_id, session_turns.speakers
      FROM (SELECT DISTINCT session_id FROM by_others) AS s
     CROSS JOIN LATERAL (
           SELECT array_agg(DISTINCT speaker) AS speakers, count(*) AS turns,
                  bool_or((CAST(%(letters)s AS text[]) IS NULL
                           OR EXISTS (SELECT FROM unnest(CAST(%(letters)s AS text[])) AS l (letters)
                                       WHERE strpos(lower(content), l.letters) > 0))
                          AND content ~* CAST(%(pattern)s AS text)) AS is_mentioned
             FROM (SELECT COALESCE(e.speaker, '') AS speaker, e.content FROM mnestic.entry AS e
                    WHERE e.tenant_id = %(tenant_id)s AND e.agent_id = %(agent_id)s AND e.session_id = s.session_id
                    LIMIT 301) AS turn) AS session_turns
     WHERE session_turns.turns <= 300 AND NOT session_turns.is_mentioned
)
SELECT by_others.number, unrelated.speakers FROM by_others JOIN unrelated USING (session_id)
