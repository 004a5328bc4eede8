-- Takes the contents of entries, as they are stored, out of full text search.
WITH totals AS (
    UPDATE mnestic.corpus AS c
       SET entries = c.entries - gone.entries, lexemes = c.lexemes - gone.lexemes
      FROM (SELECT count(*) AS entries, COALESCE(sum(lexemes), 0) AS lexemes FROM mnestic.entry
             WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND number = ANY(CAST(%(numbers)s AS bigint[]))) AS gone
     WHERE c.tenant_id = %(tenant_id)s AND c.agent_id = %(agent_id)s
    RETURNING 1
)
SELECT mnestic.remove_words(%(tenant_id)s, %(agent_id)s, CAST(%(numbers)s AS bigint[])) WHERE (SELECT count(*) FROM totals) > 0
