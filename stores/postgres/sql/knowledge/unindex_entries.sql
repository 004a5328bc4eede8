-- Takes the contents of entries, as they are stored, out of full text search.
-- Each row is looked up by its whole key (`OFFSET 0`): else all that the agent has may be read once a word.
WITH words AS MATERIALIZED (
    SELECT e.number, w.lexeme, least(cardinality(w.positions), 32767) AS frequency, e.lexemes, e.audience
      FROM mnestic.entry AS e,
           unnest(to_tsvector(CAST(e.language AS regconfig), mnestic.words_apart(e.content))) AS w
     WHERE e.tenant_id = %(tenant_id)s AND e.agent_id = %(agent_id)s AND e.number = ANY(CAST(%(numbers)s AS bigint[]))
),
posted AS (
    DELETE FROM mnestic.posting WHERE ctid = ANY(ARRAY(
        SELECT found.place FROM words AS w, LATERAL (
            SELECT p.ctid AS place FROM mnestic.posting AS p
             WHERE p.tenant_id = %(tenant_id)s AND p.agent_id = %(agent_id)s
               AND p.lexeme = w.lexeme AND p.entry_number = w.number
            OFFSET 0
        ) AS found
    ))
),
held AS MATERIALIZED (
    SELECT found.lexeme, found.audience FROM (SELECT DISTINCT lexeme, audience FROM words ORDER BY lexeme, audience) AS w, LATERAL (
        SELECT l.lexeme, l.audience FROM mnestic.lexeme AS l
         WHERE l.tenant_id = %(tenant_id)s AND l.agent_id = %(agent_id)s AND l.lexeme = w.lexeme AND l.audience = w.audience
        OFFSET 0 FOR UPDATE
    ) AS found
),
counted AS (
    UPDATE mnestic.lexeme AS l SET entries = l.entries - w.entries
      FROM (SELECT lexeme, audience, count(*) AS entries FROM words GROUP BY lexeme, audience) AS w JOIN held USING (lexeme, audience)
     WHERE l.tenant_id = %(tenant_id)s AND l.agent_id = %(agent_id)s AND l.lexeme = w.lexeme AND l.audience = w.audience
)
UPDATE mnestic.corpus AS c
   SET entries = c.entries - gone.entries, lexemes = c.lexemes - gone.lexemes
  FROM (SELECT count(*) AS entries, COALESCE(sum(lexemes), 0) AS lexemes FROM mnestic.entry
         WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND number = ANY(CAST(%(numbers)s AS bigint[]))) AS gone
 WHERE c.tenant_id = %(tenant_id)s AND c.agent_id = %(agent_id)s
