-- Enters the contents of entries, as they are stored, into full text search.
-- The row of `corpus` is locked first, as by all who write lists of postings; see `add_entries.sql`.
WITH totals AS (
    INSERT INTO mnestic.corpus (tenant_id, agent_id, entries, lexemes, languages)
    SELECT %(tenant_id)s, %(agent_id)s, count(*), COALESCE(sum(lexemes), 0), COALESCE(array_agg(DISTINCT language), '{}')
      FROM mnestic.entry WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND number = ANY(CAST(%(numbers)s AS bigint[]))
    ON CONFLICT (tenant_id, agent_id)
    DO UPDATE SET entries = mnestic.corpus.entries + excluded.entries,
                  lexemes = mnestic.corpus.lexemes + excluded.lexemes,
                  languages = ARRAY(SELECT unnest(mnestic.corpus.languages) UNION SELECT unnest(excluded.languages) ORDER BY 1)
    RETURNING 1
)
SELECT mnestic.enter_words(%(tenant_id)s, %(agent_id)s, CAST(%(numbers)s AS bigint[])) WHERE (SELECT count(*) FROM totals) > 0
