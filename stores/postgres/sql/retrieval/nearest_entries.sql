-- The earlier messages that are nearest to each of some messages, the nearest first: by meaning, and by the words that are rarest
-- in the agent's memory, of each of which the last 100 entries before it are read. An entry's place is its better one of both.
WITH message AS MATERIALIZED (
    SELECT e.*, v.vector
      FROM unnest(CAST(%(ids)s AS text[])) AS given (id)
     CROSS JOIN LATERAL (
        SELECT number, id, at, language, left(content, 2000) AS content FROM mnestic.entry
         WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND id = given.id OFFSET 0) AS e
      LEFT JOIN LATERAL (
        SELECT vector FROM mnestic.embedding
         WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND model = %(model)s AND entry_number = e.number OFFSET 0) AS v
        ON NOT CAST(%(is_indexed)s AS boolean) OR to_regclass(%(index)s) IS NOT NULL
),
rare_word AS MATERIALIZED (
    SELECT number, lexeme, 1 / ln(CAST(entries AS float8) + 1) AS weight
      FROM (SELECT m.number, l.*, row_number() OVER (PARTITION BY m.number ORDER BY l.entries, l.lexeme) AS place
              FROM message AS m
             CROSS JOIN LATERAL unnest(tsvector_to_array(to_tsvector(CAST(m.language AS regconfig),
                                                                     mnestic.words_apart(m.content)))) AS w (lexeme)
             CROSS JOIN LATERAL (
                SELECT lexeme, sum(cardinality(postings)) AS entries FROM mnestic.posting
                 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND lexeme = w.lexeme
                 GROUP BY lexeme HAVING sum(cardinality(postings)) > 1) AS l) AS word
     WHERE place <= 8
),
found AS (
    SELECT number, earlier, row_number() OVER (PARTITION BY number ORDER BY sum(weight) DESC, earlier DESC) AS place
      FROM (SELECT w.number, w.weight, p.entry_number AS earlier
              FROM rare_word AS w
             CROSS JOIN LATERAL (
                SELECT entry_number FROM mnestic.posting CROSS JOIN LATERAL mnestic.unpack_postings(postings)
                 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND lexeme = w.lexeme
                   AND first_number < w.number AND entry_number < w.number
                 ORDER BY first_number DESC, entry_number DESC LIMIT 100) AS p) AS posting
     GROUP BY number, earlier
     UNION ALL
    SELECT m.number, n.number, row_number() OVER (PARTITION BY m.number ORDER BY n.score DESC, n.number DESC)
      FROM message AS m
     CROSS JOIN LATERAL mnestic.nearest_vectors(%(tenant_id)s, %(agent_id)s, %(model)s, m.vector, 20,
                                                CAST(%(is_indexed)s AS boolean)) AS n
     WHERE m.vector IS NOT NULL AND n.number < m.number
),
nearest AS (
    SELECT number, earlier, min(place) AS place FROM found WHERE place <= 10 GROUP BY number, earlier
)
SELECT id, session_id, source_id, speaker, content, at
  FROM (SELECT m.id, e.session_id, e.source_id, e.speaker, e.content, e.at,
               row_number() OVER (PARTITION BY m.number ORDER BY n.place, n.earlier DESC) AS place
          FROM nearest AS n
          JOIN message AS m USING (number)
         CROSS JOIN LATERAL (
            SELECT session_id, source_id, COALESCE(speaker, '') AS speaker, left(content, 1000) AS content, at FROM mnestic.entry
             WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND number = n.earlier AND kind = 'message'
               AND status = 'active' AND at <= m.at AND session_id IS NOT NULL AND source_id IS NOT NULL OFFSET 0) AS e) AS ranked
 WHERE place <= CAST(%(most)s AS integer) ORDER BY id, place
