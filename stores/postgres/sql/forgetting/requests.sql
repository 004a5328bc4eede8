-- name: begin
-- Adds a forgetting, or lets one that is there go on.
INSERT INTO mnestic.forgetting (tenant_id, agent_id, id, actor, topic, entries, requested_at)
VALUES (%(tenant_id)s, %(agent_id)s, %(id)s, %(actor)s, %(topic)s, %(entries)s, now())
ON CONFLICT (tenant_id, agent_id, id) DO UPDATE
   SET topic = excluded.topic, entries = excluded.entries, finished_at = NULL

-- name: find
-- Reads a forgetting.
SELECT id, topic, entries, purged, requested_at, finished_at
  FROM mnestic.forgetting
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND id = %(id)s

-- name: lock_counts
-- Reads how many rows a forgetting has purged of each table, and locks it.
SELECT purged
  FROM mnestic.forgetting
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND id = %(id)s
   FOR UPDATE

-- name: count
-- Writes how many rows a forgetting has purged of each table.
UPDATE mnestic.forgetting
   SET purged = %(purged)s
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND id = %(id)s

-- name: list_unfinished
-- Reads the topics of the forgettings that go on.
SELECT id, topic
  FROM mnestic.forgetting
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND topic IS NOT NULL

-- name: finish
-- Ends forgettings, whose topics and entries go.
UPDATE mnestic.forgetting
   SET topic = NULL, entries = NULL, finished_at = now()
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND id = ANY(CAST(%(ids)s AS text[]))

-- name: renew_statistics
-- Renews the planner's statistics of a table, unless it has no rows, and says whether they are new.
SELECT mnestic.renew_statistics(%(forgetting)s, %(agent_id)s, %(table)s) AS are_new

-- name: languages
-- Reads the languages of the agent's entries.
SELECT languages
  FROM mnestic.corpus
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s

-- name: stems
-- Gives the stems of words, one in each language.
SELECT w.word,
       array_agg(array_to_string(tsvector_to_array(to_tsvector(CAST(g.language AS regconfig), w.word)), ' ')
                 ORDER BY g.language) AS stems
  FROM unnest(CAST(%(words)s AS text[])) AS w (word)
 CROSS JOIN unnest(CAST(%(languages)s AS text[])) AS g (language)
 GROUP BY w.word

-- name: readers_of
-- Reads which jobs have read a record.
SELECT job_id
  FROM mnestic.job_read
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND namespace = %(namespace)s AND key = %(key)s

-- name: drop_messages
-- Keeps messages from being learned from, and removes what was extracted of them.
UPDATE mnestic.ingest_state
   SET state = 'dropped', extracted = NULL, context = NULL, reason = NULL, updated_at = now()
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s
   AND (session_id, source_id) IN (-- include named_messages
       )

-- name: forget_messages
-- Empties messages for good, and counts them.
SELECT mnestic.forget_messages(%(forgetting)s, %(agent_id)s, %(sessions)s, %(sources)s) AS messages

-- name: contents_of
-- Reads the contents of messages that have not been emptied.
SELECT session_id, source_id, content
  FROM mnestic.resource
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND content <> ''
   AND (session_id, source_id) IN (-- include named_messages
       )
 ORDER BY session_id, source_id

-- name: read_anew
-- Has messages extracted anew, of which something is cut: what was read of them before is not what is left. With another
-- number nobody takes it for that who is at it now.
WITH cut AS (-- include named_messages
), unread AS (
    UPDATE mnestic.ingest_state AS l
       SET state = 'received', number = DEFAULT, extractor = NULL, extracted = NULL, context = NULL, updated_at = now()
      FROM cut
     WHERE l.tenant_id = %(tenant_id)s AND l.agent_id = %(agent_id)s
       AND l.session_id = cut.session_id AND l.source_id = cut.source_id AND l.state IN ('received', 'extracted')
)
UPDATE mnestic.ingest_state AS l
   SET extractor = CASE l.state WHEN 'parked' THEN NULL ELSE extractor END, extracted = NULL, context = NULL,
       updated_at = now()
  FROM cut
 WHERE l.tenant_id = %(tenant_id)s AND l.agent_id = %(agent_id)s
   AND l.session_id = cut.session_id AND l.source_id = cut.source_id AND l.state NOT IN ('received', 'extracted')

-- name: cut_messages
-- Blanks parts of messages out for good, and counts them.
SELECT mnestic.cut_messages(%(forgetting)s, %(agent_id)s, %(sessions)s, %(sources)s, %(contents)s) AS messages

-- name: claims_from
-- Reads which claims messages make, and where in a message each stands.
SELECT id, session_id, source_id, source -> 'span' AS span
  FROM mnestic.claim
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s
   AND (session_id, source_id) IN (-- include named_messages
       )
 ORDER BY id

-- name: facts_of
-- Reads the facts that follow from some claims alone.
SELECT id, subject, predicate, object, category, cardinality, status, confidence, valid_from, valid_to, "end", supersedes,
       superseded_by, decayed_confidence, promotion, used_at, claims
  FROM mnestic.fact
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s
   AND claims ?| CAST(%(ids)s AS text[]) AND claims <@ to_jsonb(CAST(%(ids)s AS text[]))
 ORDER BY id

-- name: entries_from
-- Reads which entries were made of messages.
SELECT id
  FROM mnestic.entry
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s
   AND (session_id, source_id) IN (-- include named_messages
       )

-- name: archived_from
-- Reads which archived entries were made of messages.
SELECT id
  FROM mnestic.archived_entry
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s
   AND (session_id, source_id) IN (-- include named_messages
       )

-- name: list_entries
-- Reads which messages entries were made of.
SELECT id, session_id, source_id
  FROM mnestic.entry
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND id = ANY(CAST(%(ids)s AS text[]))

-- name: list_archived
-- Reads which messages archived entries were made of.
SELECT id, session_id, source_id
  FROM mnestic.archived_entry
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND id = ANY(CAST(%(ids)s AS text[]))

-- name: count_links
-- Counts the vectors of entries, and what names an entry in them or them in other entries.
WITH gone AS (
    SELECT id, number, related, parent
      FROM mnestic.entry
     WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND id = ANY(CAST(%(ids)s AS text[]))
)
SELECT (SELECT count(*) FROM mnestic.embedding AS v
         WHERE v.tenant_id = %(tenant_id)s AND v.agent_id = %(agent_id)s
           AND v.entry_number IN (SELECT number FROM gone)) AS embedding,
       (SELECT COALESCE(sum(jsonb_array_length(related) + (parent IS NOT NULL)::integer), 0) FROM gone)
     + (SELECT count(*) FROM mnestic.entry_term AS t
         WHERE t.tenant_id = %(tenant_id)s AND t.agent_id = %(agent_id)s AND t.kind = 'related'
           AND t.term = ANY(CAST(%(ids)s AS text[])) AND t.entry_number NOT IN (SELECT number FROM gone))
     + (SELECT count(*) FROM mnestic.entry AS e
         WHERE e.tenant_id = %(tenant_id)s AND e.agent_id = %(agent_id)s AND e.parent = ANY(CAST(%(ids)s AS text[]))
           AND e.id <> ALL(CAST(%(ids)s AS text[]))) AS edge

-- name: find_end
-- Reads the operation that has ended a job; it has an index of its own.
SELECT key
  FROM mnestic.operation
 WHERE tenant_id = %(tenant_id)s AND job_id = %(job_id)s AND name = 'end'
 LIMIT 1

-- name: sessions_of
-- Reads the sessions in which a job has waited.
SELECT DISTINCT session_id
  FROM mnestic.job_wait
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND job_id = %(job_id)s

-- name: jobs_of
-- Reads the jobs that have waited in a session and have not ended.
SELECT DISTINCT w.job_id
  FROM mnestic.job_wait AS w
 WHERE w.tenant_id = %(tenant_id)s AND w.agent_id = %(agent_id)s AND w.session_id = %(session_id)s
   AND NOT EXISTS (SELECT FROM mnestic.operation AS o
                    WHERE o.tenant_id = %(tenant_id)s AND o.job_id = w.job_id AND o.name = 'end')

-- name: uses_of_plans
-- Reads which jobs have waited in plans, with their agents: plans are the whole tenant's.
SELECT DISTINCT context ->> 'plan_decision_id' AS plan, job_id, agent_id
  FROM mnestic.job_wait
 WHERE tenant_id = %(tenant_id)s AND context ->> 'plan_decision_id' = ANY(CAST(%(plans)s AS text[]))
