-- Rows of 0.2.0 as 0.3.0 would have written them, read and written as the owner of the tables without the wall.

-- Whether a message asks, and whether it names a time.
UPDATE mnestic.entry SET features = asks + names_time
  FROM (SELECT ctid AS place,
               CASE WHEN content ~ '[?\uff1f]\s*$' THEN 1 ELSE 0 END AS asks,
               CASE WHEN times <> '[]' OR lower(left(content, 20000)) ~ (
                    '\m(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|(?:every|each|(?:twice|once)\s+a)\s+(?:\w+\s+)?'
                    '(?:hour|day|week|month|quarter|year)s?|mornings?|afternoons?|evenings?|nights?|dawn|dusk|noon|midnight|'
                    'week(?:ends?|days?)|(?:dai|week|month|quarter|year)ly|annually|(?:[01]?\d|2[0-4]):[0-5]\d|'
                    '\d{1,2}\s?(?:am|pm|uhr|h))\M') THEN 4 ELSE 0 END AS names_time
          FROM mnestic.entry) AS read
 WHERE entry.ctid = read.place AND asks + names_time > 0;

-- Facts that no message states, in the index that finds messages. The sentences are those of memory when this was written, copied:
-- memory's own may change, this may not.
INSERT INTO mnestic.entry
       (tenant_id, agent_id, id, kind, entry_type, status, content, summary, subjects, keywords, tags, aliases, times, related,
        importance, critical, access_count, language, at, created_at, updated_at, expires_at, features)
SELECT f.tenant_id, f.agent_id, f.id, 'fact', 'knowledge', 'active', said.text, left(said.text, 200), jsonb_build_array(f.subject),
       '[]', jsonb_build_array(f.category),
       CASE WHEN f.predicate IN ('also_known_as', 'full_name', 'nickname', 'preferred_name')
            THEN jsonb_build_array(f.object) ELSE '[]' END,
       '[]', '[]', 0.5, false, 0,
       COALESCE((SELECT value #>> '{}' FROM mnestic.setting AS s
                  WHERE s.tenant_id = f.tenant_id AND s.agent_id = f.agent_id AND s.name = 'language'), 'english'),
       f.valid_from, now(), now(), f.valid_to, 0
  FROM mnestic.fact AS f
 CROSS JOIN LATERAL (
       SELECT COALESCE(
            jsonb '{
            "born_in": "{subject} was born in {object}",
            "email": "{subject}''s email address is {object}",
            "floor": "{subject} lives on the floor {object}",
            "home_type": "{subject}''s home is {object}",
            "phone": "{subject}''s phone number is {object}",
            "pronouns": "{subject}''s pronouns are {object}",
            "status_of_health": "{subject}''s health: {object}",
            "timezone": "{subject}''s time zone is {object}",
            "preferred_name": "{subject} prefers to be called {object}",
            "engaged_to": "{subject} is engaged to {object}",
            "married_to": "{subject} is married to {object}",
            "employer": "{subject} works at {object}",
            "job_title": "{subject}''s job is {object}",
            "due_date": "{subject} is due on {object}",
            "travel_date": "{subject} travels on {object}",
            "wedding_date": "{subject}''s wedding is on {object}",
            "allergic_to": "{subject} is allergic to {object}",
            "also_known_as": "{subject} is also known as {object}",
            "languages_spoken": "{subject} speaks {object}",
            "member_of": "{subject} is a member of {object}",
            "skill": "{subject} is skilled in {object}",
            "habit_of": "{subject} has a habit: {object}",
            "in_law": "{subject}''s in-law is {object}",
            "responsible_for": "{subject} is responsible for {object}",
            "is_a": "{subject} is {object}",
            "located_in": "{subject} is located in {object}",
            "part_of": "{subject} is part of {object}",
            "said": "{subject} said: {object}"}' ->> f.predicate,
            CASE WHEN f.predicate IN (
                 'age', 'birthday', 'diet', 'full_name', 'gender', 'height', 'nationality', 'favourite_animal',
                 'favourite_artist', 'favourite_author', 'favourite_band', 'favourite_book', 'favourite_city',
                 'favourite_colour', 'favourite_drink', 'favourite_film', 'favourite_food', 'favourite_game',
                 'favourite_music', 'favourite_place', 'favourite_season', 'favourite_song', 'favourite_sport',
                 'favourite_subject', 'preferred_language', 'partner', 'relationship_status', 'salary',
                 'school', 'team_leader', 'capital', 'price', 'status', 'version', 'nickname', 'pet', 'hobby',
                 'aunt_or_uncle', 'child', 'colleague', 'cousin', 'friend', 'grandchild', 'grandparent',
                 'neighbour', 'niece_or_nephew', 'parent', 'sibling')
                 THEN '{subject}''s ' || replace(f.predicate, '_', ' ') || ' is {object}'
                 ELSE '{subject} ' || replace(f.predicate, '_', ' ') || ' {object}' END) AS text) AS form
 CROSS JOIN LATERAL (
       SELECT split_part(form.text, '{object}', 1) AS before, split_part(form.text, '{object}', 2) AS after) AS part
 CROSS JOIN LATERAL (
       SELECT replace(part.before, '{subject}', f.subject) || f.object || part.after
              || CASE WHEN (f.valid_from AT TIME ZONE 'UTC')::date > (now() AT TIME ZONE 'UTC')::date
                      THEN to_char(f.valid_from AT TIME ZONE 'UTC', '" from "YYYY-MM-DD') ELSE '' END
              || COALESCE(to_char(f.valid_to AT TIME ZONE 'UTC', '" until "YYYY-MM-DD'), '') AS words) AS sentence
 CROSS JOIN LATERAL (
       SELECT sentence.words || CASE WHEN right(sentence.words, 1) IN ('.', '!', '?', '…', '。')
                                     THEN '' ELSE '.' END AS text) AS said
 WHERE f.status = 'active' AND NOT EXISTS (
       SELECT FROM jsonb_array_elements_text(f.claims) AS claimed (id)
         JOIN mnestic.claim AS c ON c.tenant_id = f.tenant_id AND c.agent_id = f.agent_id AND c.id = claimed.id
          AND c.kind IN ('affirmed', 'corrected')
         JOIN mnestic.entry AS e ON e.tenant_id = f.tenant_id AND e.agent_id = f.agent_id
          AND e.session_id = c.session_id AND e.at = c.said_at AND e.source_id = c.source_id)
ON CONFLICT DO NOTHING;

-- Episodes, in the index that finds messages.
INSERT INTO mnestic.entry
       (tenant_id, agent_id, id, kind, entry_type, status, content, summary, session_id, subjects, keywords, tags, aliases,
        times, related, importance, critical, access_count, language, at, created_at, updated_at, features)
SELECT tenant_id, agent_id, id, 'episode', 'context', 'active', left(btrim(summary), 10000), left(btrim(summary), 200), session_id,
       '[]', '[]', '[]', '[]', '[]', '[]', 0.5, false, 0,
       COALESCE((SELECT value #>> '{}' FROM mnestic.setting AS s
                  WHERE s.tenant_id = e.tenant_id AND s.agent_id = e.agent_id AND s.name = 'language'), 'english'),
       created_at, now(), now(), 0
  FROM mnestic.episode AS e WHERE btrim(summary) <> ''
ON CONFLICT DO NOTHING;

-- Words and names, as entries of 0.3.0 get them. Vectors are missing by what `corpus` counts, and are made as those of messages.
INSERT INTO mnestic.entry_term (tenant_id, agent_id, kind, term, entry_number)
SELECT e.tenant_id, e.agent_id, t.kind, t.term, e.number
  FROM mnestic.entry AS e
  JOIN mnestic.fact AS f ON f.tenant_id = e.tenant_id AND f.agent_id = e.agent_id AND f.id = e.id
 CROSS JOIN LATERAL (VALUES ('subject', f.subject_key), ('tag', f.category),
                            ('alias', CASE WHEN e.aliases <> '[]' THEN f.object_key END)) AS t (kind, term)
 WHERE e.kind = 'fact' AND t.term IS NOT NULL;
INSERT INTO mnestic.posting (tenant_id, agent_id, lexeme, entry_number, frequency, length)
SELECT e.tenant_id, e.agent_id, w.lexeme, e.number, least(cardinality(w.positions), 32767), e.lexemes
  FROM mnestic.entry AS e, unnest(to_tsvector(CAST(e.language AS regconfig), mnestic.words_apart(e.content))) AS w
 WHERE e.kind <> 'message';
INSERT INTO mnestic.lexeme AS l (tenant_id, agent_id, lexeme, entries)
SELECT e.tenant_id, e.agent_id, w.lexeme, count(*)
  FROM mnestic.entry AS e, unnest(to_tsvector(CAST(e.language AS regconfig), mnestic.words_apart(e.content))) AS w
 WHERE e.kind <> 'message' GROUP BY 1, 2, 3
ON CONFLICT (tenant_id, agent_id, lexeme) DO UPDATE SET entries = l.entries + excluded.entries;
INSERT INTO mnestic.corpus AS c (tenant_id, agent_id, entries, lexemes, languages)
SELECT tenant_id, agent_id, count(*), sum(lexemes), array_agg(DISTINCT language) FROM mnestic.entry
 WHERE kind <> 'message' GROUP BY 1, 2
ON CONFLICT (tenant_id, agent_id)
DO UPDATE SET entries = c.entries + excluded.entries, lexemes = c.lexemes + excluded.lexemes,
              languages = ARRAY(SELECT unnest(c.languages) UNION SELECT unnest(excluded.languages) ORDER BY 1);
-- Answers that a process holds are of an older revision now.
UPDATE mnestic.agent_revision AS r SET knowledge_revision = r.knowledge_revision + 1
 WHERE EXISTS (SELECT FROM mnestic.entry AS e
                WHERE e.tenant_id = r.tenant_id AND e.agent_id = r.agent_id AND e.kind <> 'message');

-- The graph of facts.
INSERT INTO mnestic.graph_edge
SELECT tenant_id, agent_id, id, subject, subject_key, predicate, object, object_key,
       CAST(round(CAST(COALESCE(decayed_confidence, confidence) * ln(1 + GREATEST(1, (
            SELECT count(*) FROM mnestic.claim AS c
             WHERE c.tenant_id = f.tenant_id AND c.agent_id = f.agent_id AND c.kind IN ('affirmed', 'corrected', 'reactivated')
               AND c.id = ANY(ARRAY(SELECT jsonb_array_elements_text(f.claims)))))) / ln(2) AS numeric), 4) AS float8),
       status = 'active', valid_from, valid_to
  FROM mnestic.fact AS f WHERE status <> 'deleted' AND (valid_to IS NULL OR valid_to > valid_from);

-- Of several models it is the one that knows most entries.
UPDATE mnestic.corpus AS c SET active_model = m.model
  FROM (SELECT DISTINCT ON (tenant_id, agent_id) tenant_id, agent_id, model FROM mnestic.embedding_model
         WHERE entries > 0 ORDER BY tenant_id, agent_id, entries DESC, model) AS m
 WHERE m.tenant_id = c.tenant_id AND m.agent_id = c.agent_id;

-- What is so no longer, as the writes of 0.3.0 decide it.
WITH claimed AS MATERIALIZED (
    SELECT e.tenant_id, e.agent_id, e.id, e.at, length(e.content) AS chars, c.predicate, c.source -> 'span' AS span, h.*
      FROM mnestic.entry AS e
      JOIN mnestic.claim AS c ON c.tenant_id = e.tenant_id AND c.agent_id = e.agent_id AND c.session_id = e.session_id
       AND c.source_id = e.source_id AND c.kind IN ('affirmed', 'corrected')
      LEFT JOIN LATERAL (
        SELECT f.claims AS fact_claims, f.superseded_by AS successor, f."end" AS fate,
               CASE WHEN f.status = 'active' AND f.valid_to IS NULL OR f."end" IN ('faded', 'past') THEN 'infinity'
                    WHEN f.status = 'deleted' OR f."end" IN ('corrected', 'undone') THEN '-infinity'
                    ELSE f.valid_to END AS until
          FROM mnestic.fact AS f
         WHERE f.tenant_id = e.tenant_id AND f.agent_id = e.agent_id AND f.subject_key = c.subject_key
           AND f.predicate = c.predicate AND f.claims ? c.id
         ORDER BY 4 DESC NULLS LAST, f.id LIMIT 1) AS h ON true
     WHERE e.kind = 'message'
),
verdict AS (
    SELECT tenant_id, agent_id, id, at, max(COALESCE(until, '-infinity')) AS until,
           (array_agg(fate ORDER BY until DESC NULLS LAST, predicate))[1] AS fate,
           (array_agg(successor ORDER BY until DESC NULLS LAST, predicate))[1] AS successor,
           bool_or(span ->> 'start' IS NULL)
           OR 2 * (SELECT sum(upper(part) - lower(part))
                     FROM unnest(range_agg(int4range(CAST(span ->> 'start' AS integer), CAST(span ->> 'end' AS integer)))) AS part)
              >= min(chars) AS is_whole
      FROM claimed GROUP BY tenant_id, agent_id, id, at
)
INSERT INTO mnestic.supersession (tenant_id, agent_id, entry_id, at, by, why)
SELECT v.tenant_id, v.agent_id, v.id, GREATEST(v.until, v.at),
       COALESCE((
           SELECT m.id FROM mnestic.fact AS g
            CROSS JOIN LATERAL jsonb_array_elements_text(g.claims) AS stated (id)
             JOIN mnestic.claim AS c ON c.tenant_id = v.tenant_id AND c.agent_id = v.agent_id AND c.id = stated.id
             JOIN mnestic.entry AS m ON m.tenant_id = v.tenant_id AND m.agent_id = v.agent_id AND m.session_id = c.session_id
              AND m.at = c.said_at AND m.source_id = c.source_id AND m.kind = 'message'
            WHERE g.tenant_id = v.tenant_id AND g.agent_id = v.agent_id AND g.id = v.successor
              AND c.kind IN ('affirmed', 'corrected')
            ORDER BY c.said_at DESC, c.id LIMIT 1), v.successor),
       CASE WHEN v.fate IN ('superseded', 'ended', 'corrected') THEN v.fate ELSE 'withdrawn' END
  FROM verdict AS v WHERE v.until < 'infinity' AND v.is_whole;

-- What a correction corrects, where no claims say it.
INSERT INTO mnestic.supersession (tenant_id, agent_id, entry_id, at, by, why)
SELECT DISTINCT ON (e.tenant_id, e.agent_id, e.id) e.tenant_id, e.agent_id, e.id, x.at, x.id, 'corrected'
  FROM mnestic.entry AS x
  JOIN mnestic.entry AS e ON e.tenant_id = x.tenant_id AND e.agent_id = x.agent_id AND e.id IN (x.parent, x.related ->> 0)
 WHERE x.entry_type = 'correction' AND x.status = 'active' AND e.kind = 'message'
   AND NOT (EXISTS (SELECT FROM mnestic.claim AS c WHERE c.tenant_id = x.tenant_id AND c.agent_id = x.agent_id
                       AND c.session_id = x.session_id AND c.source_id = x.source_id)
            AND EXISTS (SELECT FROM mnestic.claim AS c WHERE c.tenant_id = e.tenant_id AND c.agent_id = e.agent_id
                           AND c.session_id = e.session_id AND c.source_id = e.source_id))
 ORDER BY e.tenant_id, e.agent_id, e.id, x.at DESC
ON CONFLICT (tenant_id, agent_id, entry_id) DO UPDATE SET at = excluded.at, by = excluded.by, why = excluded.why;

-- Weights that were set for the default preset weighed a sum that is no more, and would be read as log-odds. Those of the
-- preset leonidas, whose score is still a plain sum, stay.
UPDATE mnestic.setting AS s SET value = s.value - ARRAY[
        'semantic', 'lexical', 'late_interaction', 'neighbour', 'second_neighbour', 'related', 'session', 'speaker', 'subject',
        'other_people', 'tag', 'time', 'recency', 'mention', 'question', 'importance', 'min_score', 'alike', 'beside', 'near', 'others']
 WHERE s.name = 'retrieval_policy' AND jsonb_typeof(s.value) = 'object'
   AND NOT EXISTS (SELECT FROM mnestic.setting AS p
                    WHERE p.tenant_id = s.tenant_id AND p.agent_id = s.agent_id
                      AND p.name = 'retrieval_preset' AND p.value = '"leonidas"');

-- The cosine that counts as 1 is .7 now, so none above it counts as 0.
UPDATE mnestic.setting SET value = value - 'least_cosine'
 WHERE name = 'retrieval_policy' AND value -> 'least_cosine' >= '0.7';

-- The tenants that are there.
INSERT INTO mnestic.tenant (tenant_id) SELECT DISTINCT tenant_id FROM mnestic.agent_revision;

-- Messages that were forgotten before.
ALTER TABLE mnestic.resource DISABLE TRIGGER USER;
UPDATE mnestic.resource SET channel = '' WHERE forgotten_at IS NOT NULL AND channel <> '';
ALTER TABLE mnestic.resource ENABLE TRIGGER USER;
