-- Adds entries with all that finds them: words, names and, where `vectors` holds them, their vectors.
-- Returns those that are new. An entry whose id is there already is passed over. One of a message is for its readers.
--
-- Every writer of an agent's indexes locks its row of `corpus` first, then lists of postings, then `embedding_model`, so that
-- nobody waits for somebody who waits.
WITH given AS MATERIALIZED (
    SELECT *, COALESCE((SELECT value #>> '{}' FROM mnestic.setting
                         WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND name = 'language'), %(language)s) AS language
      FROM json_to_recordset(CAST(%(entries)s AS json)) AS g (
           id text, kind text, entry_type text, status text, content text, summary text, session_id text, source_id text,
           channel text, speaker text, subjects jsonb, keywords jsonb, tags jsonb, aliases jsonb, times jsonb,
           related jsonb, replaces jsonb, parent text, importance real, critical boolean, access_count integer,
           last_accessed timestamptz, at timestamptz, expires_at timestamptz, reinstated_at timestamptz, features smallint, tokens bytea,
           place bigint)
),
added AS (
    INSERT INTO mnestic.entry
           (tenant_id, agent_id, id, kind, entry_type, status, content, summary, session_id, source_id, channel, speaker,
            subjects, keywords, tags, aliases, times, related, replaces, parent, importance, critical, access_count, last_accessed,
            language, at, created_at, updated_at, expires_at, reinstated_at, features, tokens,
            audience)
    SELECT %(tenant_id)s, %(agent_id)s, id, kind, entry_type, status, content, NULLIF(summary, content), session_id, source_id, channel, speaker,
           subjects, keywords, tags, aliases, times, related, replaces, parent, importance, critical, access_count, last_accessed,
           language, at, now(), now(), expires_at, reinstated_at, features, tokens,
           mnestic.audience_of_entry(%(tenant_id)s, %(agent_id)s, kind, session_id, source_id)
      FROM given ORDER BY place
    ON CONFLICT DO NOTHING
    RETURNING id, number, session_id, source_id, content, language, lexemes, importance, created_at, audience
),
totals AS (
    INSERT INTO mnestic.corpus (tenant_id, agent_id, entries, lexemes, languages, active_model)
    SELECT %(tenant_id)s, %(agent_id)s, count(*), sum(lexemes), array_agg(DISTINCT language),
           CASE WHEN CAST(%(dimensions)s AS integer) > 0 THEN %(model)s END
      FROM added HAVING count(*) > 0
    ON CONFLICT (tenant_id, agent_id)
    DO UPDATE SET active_model = COALESCE(mnestic.corpus.active_model, excluded.active_model),
                  entries = mnestic.corpus.entries + excluded.entries,
                  lexemes = mnestic.corpus.lexemes + excluded.lexemes,
                  languages = ARRAY(SELECT unnest(mnestic.corpus.languages) UNION SELECT unnest(excluded.languages)
                                     ORDER BY 1)
    RETURNING entries
),
posted AS MATERIALIZED (
    SELECT mnestic.enter_words(%(tenant_id)s, %(agent_id)s, ARRAY(SELECT number FROM added)) WHERE EXISTS (SELECT FROM totals)
),
named AS (
    INSERT INTO mnestic.entry_term (tenant_id, agent_id, kind, term, entry_number, audience)
    SELECT %(tenant_id)s, %(agent_id)s, t.kind, t.term, a.number, a.audience
      FROM json_to_recordset(CAST(%(terms)s AS json)) AS t (id text, kind text, term text) JOIN added AS a USING (id)
),
embedded AS (
    INSERT INTO mnestic.embedding (tenant_id, agent_id, model, entry_number, dimensions, audience, vector)
    SELECT %(tenant_id)s, %(agent_id)s, %(model)s, a.number, CAST(%(dimensions)s AS integer), a.audience,
           CAST((CAST(%(vectors)s AS real[]))[(g.place - 1) * CAST(%(dimensions)s AS integer) + 1 : g.place * CAST(%(dimensions)s AS integer)] AS halfvec)
      FROM given AS g JOIN added AS a USING (id) WHERE CAST(%(dimensions)s AS integer) > 0
    RETURNING entry_number
),
-- Which entries lack a vector is looked for above `complete_to`, which rises only while none lacks one.
modelled AS (
    INSERT INTO mnestic.embedding_model AS m (tenant_id, agent_id, model, entries, complete_to)
    SELECT %(tenant_id)s, %(agent_id)s, %(model)s, count(*),
           CASE WHEN count(*) = (SELECT entries FROM totals) THEN max(entry_number) ELSE 0 END
      FROM embedded HAVING count(*) > 0
    ON CONFLICT (tenant_id, agent_id, model)
    DO UPDATE SET entries = m.entries + excluded.entries,
                  complete_to = CASE WHEN m.entries + excluded.entries = (SELECT entries FROM totals)
                                     THEN (SELECT max(entry_number) FROM embedded) ELSE m.complete_to END
)
-- A `real` has the digits of its text wherever an entry is read; in the binary form it would have others here.
-- `is_claimed`: there are claims of the message already, as an import adds them first.
SELECT id, number, CAST(CAST(importance AS text) AS float8) AS importance, created_at,
       EXISTS (SELECT FROM mnestic.claim AS c
                WHERE c.tenant_id = %(tenant_id)s AND c.agent_id = %(agent_id)s
                  AND c.session_id = added.session_id AND c.source_id = added.source_id) AS is_claimed
  FROM added WHERE (SELECT count(*) FROM posted) >= 0
