-- Enters the contents of entries, as they are stored, into full text search.
-- The row of `corpus` is locked first, then lexemes in their order; see `add_entries.sql`.
WITH words AS MATERIALIZED (
    SELECT e.number, w.lexeme, least(cardinality(w.positions), 32767) AS frequency, e.lexemes, e.audience
      FROM mnestic.entry AS e,
           unnest(to_tsvector(CAST(e.language AS regconfig), mnestic.words_apart(e.content))) AS w
     WHERE e.tenant_id = %(tenant_id)s AND e.agent_id = %(agent_id)s AND e.number = ANY(CAST(%(numbers)s AS bigint[]))
),
posted AS (
    INSERT INTO mnestic.posting (tenant_id, agent_id, lexeme, entry_number, frequency, length, audience)
    SELECT %(tenant_id)s, %(agent_id)s, lexeme, number, frequency, lexemes, audience FROM words
),
counted AS (
    INSERT INTO mnestic.lexeme (tenant_id, agent_id, lexeme, audience, entries)
    SELECT %(tenant_id)s, %(agent_id)s, lexeme, audience, count(*) FROM words GROUP BY lexeme, audience ORDER BY lexeme, audience
    ON CONFLICT (tenant_id, agent_id, lexeme, audience)
    DO UPDATE SET entries = mnestic.lexeme.entries + excluded.entries
)
INSERT INTO mnestic.corpus (tenant_id, agent_id, entries, lexemes, languages)
SELECT %(tenant_id)s, %(agent_id)s, count(*), COALESCE(sum(lexemes), 0), COALESCE(array_agg(DISTINCT language), '{}')
  FROM mnestic.entry WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND number = ANY(CAST(%(numbers)s AS bigint[]))
ON CONFLICT (tenant_id, agent_id)
DO UPDATE SET entries = mnestic.corpus.entries + excluded.entries,
              lexemes = mnestic.corpus.lexemes + excluded.lexemes,
              languages = ARRAY(SELECT unnest(mnestic.corpus.languages) UNION SELECT unnest(excluded.languages) ORDER BY 1)
