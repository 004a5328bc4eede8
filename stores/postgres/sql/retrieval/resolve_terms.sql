-- The first statement of a search: the terms of a query as the agent's memory knows them, and the size of that memory, in
-- one row. Every index is entered by tenant and agent, and words and names are compared by equality, since row-level
-- security allows no other operator in an index scan.
WITH
-- The identity of the database: its system identifier, its start, the file of its revisions, and what the last restore of a
-- backup of ours has noted there. A restored database differs in one of these, however it was restored.
database AS (
    SELECT concat_ws('/', system_identifier, left(pg_walfile_name(pg_current_wal_lsn()), 8),
                     (SELECT oid FROM pg_database WHERE datname = current_database()),
                     extract(epoch FROM pg_postmaster_start_time()),
                     pg_relation_filenode('mnestic.agent_revision'),
                     obj_description('mnestic.agent_revision'::regclass, 'pg_class')) AS id
      FROM pg_control_system()
),
term AS MATERIALIZED (
    SELECT k.term,
           COALESCE((SELECT true FROM mnestic.entry_term WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s
                        AND kind = 'subject' AND term = k.term LIMIT 1), false) AS is_subject,
           COALESCE((SELECT true FROM mnestic.entry_term WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s
                        AND kind = 'alias' AND term = k.term LIMIT 1), false) AS is_alias,
           COALESCE((SELECT true FROM mnestic.entry_term WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s
                        AND kind = 'tag' AND term = k.term LIMIT 1), false) AS is_tag
      FROM unnest(CAST(%(keys)s AS text[])) AS k (term)
),
-- Known names, a row for each key of the named person: the name itself, the names for which facts say it stands, and the
-- subject of entries with this alias. Speakers are looked for in the last 20 messages about the person.
name AS (
    SELECT term, term AS key, false AS is_by_alias, ARRAY(
           SELECT DISTINCT e.speaker
             FROM (SELECT message.entry_type, message.speaker
                     FROM (SELECT entry_number FROM mnestic.entry_term
                            WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND kind = 'subject' AND term = t.term
                            ORDER BY entry_number DESC) AS about
                    CROSS JOIN LATERAL (
                       SELECT entry_type, speaker FROM mnestic.entry
                        WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND number = about.entry_number
                          AND kind = 'message' OFFSET 0) AS message
                    LIMIT 20) AS e
            WHERE e.entry_type = 'interaction' AND e.speaker IS NOT NULL) AS speakers
      FROM term AS t
     WHERE CASE WHEN is_subject OR is_alias THEN true
                ELSE COALESCE((SELECT true FROM mnestic.fact WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s
                                  AND subject_key = term LIMIT 1), false) END
     UNION ALL
    SELECT t.term, f.subject_key, false, ARRAY[]::text[] FROM term AS t
     CROSS JOIN LATERAL (SELECT subject_key FROM mnestic.fact
                          WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND object_key = t.term
                            AND status = 'active'
                            AND predicate IN ('also_known_as', 'full_name', 'nickname', 'preferred_name') OFFSET 0) AS f
     UNION ALL
    SELECT t.term, e.subjects ->> 0, true, ARRAY[]::text[]
      FROM term AS t
     CROSS JOIN LATERAL (SELECT entry_number AS number FROM mnestic.entry_term
                          WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND kind = 'alias' AND term = t.term
                          ORDER BY entry_number DESC LIMIT 20) AS newest
     CROSS JOIN LATERAL (SELECT subjects FROM mnestic.entry
                          WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND number = newest.number
                            AND status = 'active' AND jsonb_array_length(subjects) = 1 OFFSET 0) AS e
     WHERE t.is_alias
),
-- Speakers of whose full names a part is given, where it is no known name itself. Names are read one by one from the index.
name_part AS MATERIALIZED (
    SELECT part FROM unnest(CAST(%(name_parts)s AS text[])) AS p (part)
     WHERE NOT EXISTS (SELECT FROM name WHERE term = part)
),
full_name AS MATERIALIZED (
    WITH RECURSIVE stride AS (
        SELECT CAST('' AS text) AS term WHERE EXISTS (SELECT FROM name_part)
         UNION ALL
        SELECT (SELECT term FROM mnestic.entry_term
                 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND kind = 'subject' AND term > stride.term
                 ORDER BY term LIMIT 1)
          FROM stride WHERE stride.term IS NOT NULL
    )
    SELECT term FROM stride WHERE strpos(term, ' ') > 0 LIMIT 2000
),
by_part AS (
    SELECT p.part, n.term, s.speakers
      FROM name_part AS p
      JOIN full_name AS n ON strpos(' ' || n.term || ' ', ' ' || p.part || ' ') > 0
     CROSS JOIN LATERAL (
        SELECT array_agg(DISTINCT e.speaker) AS speakers
          FROM (SELECT entry_number FROM mnestic.entry_term
                 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND kind = 'subject' AND term = n.term
                 ORDER BY entry_number DESC LIMIT 20) AS about
          JOIN mnestic.entry AS e ON e.tenant_id = %(tenant_id)s AND e.agent_id = %(agent_id)s
           AND e.number = about.entry_number
         WHERE e.entry_type = 'interaction' AND e.speaker IS NOT NULL) AS s
),
-- The parts of each word as lexemes, in English and each language of the agent's entries, with their numbers of entries: those
-- that have it, and those whose facts have a predicate of that word.
word AS (
    SELECT w.word, x.positions[1] AS part, g.language, x.lexeme,
           COALESCE((SELECT sum(cardinality(postings)) FROM mnestic.posting
                      WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND lexeme = x.lexeme), 0) + k.entries AS entries
      FROM unnest(CAST(%(words)s AS text[])) AS w (word)
     CROSS JOIN (SELECT unnest(languages) FROM mnestic.corpus
                  WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s
                  UNION SELECT 'english') AS g (language)
     CROSS JOIN unnest(to_tsvector(CAST(g.language AS regconfig), mnestic.words_apart(w.word))) AS x
     CROSS JOIN LATERAL (SELECT count(*) AS entries FROM mnestic.entry_term
                          WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND kind = 'keyword'
                            AND term = x.lexeme) AS k
),
-- Acronyms that some entry has, with their numbers of entries.
acronym AS (
    SELECT k.term, n.entries
      FROM unnest(CAST(%(acronyms)s AS text[])) AS k (term)
     CROSS JOIN LATERAL (SELECT count(*) AS entries FROM mnestic.entry_term
                          WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND kind = 'keyword'
                            AND term = k.term) AS n
     WHERE n.entries > 0
),
-- The first of the periods of which there is an entry.
period AS (
    SELECT p.place FROM unnest(CAST(%(since)s AS timestamptz[]), CAST(%(until)s AS timestamptz[]))
           WITH ORDINALITY AS p (since, until, place)
     CROSS JOIN LATERAL (SELECT FROM mnestic.entry
                          WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s
                            AND at >= p.since AND at < p.until AND status = 'active' LIMIT 1) AS first_entry
     ORDER BY p.place LIMIT 1
)
SELECT now() AS now,
       (SELECT id FROM database) AS database,
       COALESCE((SELECT knowledge_revision FROM mnestic.agent_revision
                  WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s), 0) AS knowledge,
       -- When an entry or a fact next expires.
       LEAST((SELECT min(expires_at) FROM mnestic.entry
               WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND expires_at > now()),
             (SELECT min(valid_to) FROM mnestic.fact
               WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND status = 'active'
                 AND valid_to > now())) AS ends_at,
       (SELECT jsonb_object_agg(name, value) FROM mnestic.setting
         WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s) AS settings,
       -- Who speaks, of the last 200 entries.
       CASE WHEN CAST(%(is_own)s AS boolean) THEN ARRAY(
            SELECT DISTINCT speaker
              FROM (SELECT entry_type, speaker FROM mnestic.entry
                     WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s
                     ORDER BY number DESC LIMIT 200) AS latest
             WHERE entry_type = 'interaction'
               AND lower(speaker) NOT IN ('assistant', 'system', 'tool', lower(%(agent_id)s))) END AS speakers,
       EXISTS (SELECT FROM mnestic.archived_entry
                WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s) AS has_archive,
       c.entries - COALESCE(h.entries, 0) AS entries, c.lexemes - COALESCE(h.lexemes, 0) AS lexemes, c.languages, c.active_model,
       -- An index of vectors would look at those that a reader may not see.
       CASE WHEN mnestic.is_reader() THEN 0 ELSE COALESCE(m.entries, 0) END AS vectors,
       (SELECT json_agg(json_build_array(term, key, is_by_alias, speakers)) FROM name) AS names,
       (SELECT json_agg(json_build_array(part, term, speakers)) FROM by_part) AS name_parts,
       (SELECT json_agg(term) FROM term WHERE is_alias OR is_tag) AS tags,
       (SELECT json_agg(json_build_array(word, part, language, lexeme, entries) ORDER BY word, part) FROM word) AS words,
       (SELECT json_object_agg(term, entries) FROM acronym) AS acronyms,
       (SELECT place FROM period) AS period
  FROM (SELECT) AS always
  LEFT JOIN mnestic.corpus AS c ON c.tenant_id = %(tenant_id)s AND c.agent_id = %(agent_id)s
  LEFT JOIN mnestic.embedding_model AS m
    ON m.tenant_id = %(tenant_id)s AND m.agent_id = %(agent_id)s AND m.model = COALESCE(c.active_model, %(model)s)
  LEFT JOIN mnestic.hidden_entries(%(tenant_id)s, %(agent_id)s) AS h ON true
