-- name: list_messages
-- Reads a page of messages in the order of their index, each with the state of its extraction.
SELECT page.session_id, page.source_id, page.channel, page.speaker, page.content, page.at, page.offset_minutes, page.forgotten_at,
       page.readers,
       s.state, s.kind, s.entry_type, s.job_id, s.workflow_run, s.corrects, s.extractor, s.extracted, s.replaces, s.reason
  FROM (SELECT session_id, source_id, channel, speaker, content, at, offset_minutes, forgotten_at, -- include readers_of
          FROM mnestic.resource
         WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s
           AND (session_id, at, source_id COLLATE "C") > (%(after)s, CAST(%(after_at)s AS timestamptz), %(after_source)s) -- if after
         ORDER BY session_id, at, source_id COLLATE "C"
         LIMIT %(limit)s) AS page
  LEFT JOIN mnestic.ingest_state AS s
    ON s.tenant_id = %(tenant_id)s AND s.agent_id = %(agent_id)s AND s.session_id = page.session_id AND s.source_id = page.source_id
 ORDER BY page.session_id, page.at, page.source_id COLLATE "C"

-- name: claims_from
-- Reads the claims that messages make.
SELECT id, kind, subject, predicate, object, confidence, said_at, valid_from, valid_to, source, session_id, source_id
  FROM mnestic.claim
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s
   AND (session_id, source_id) IN (-- include named_messages
       )
 ORDER BY id

-- name: list_claims
-- Reads a page of the claims that are of no message.
SELECT c.id, c.kind, c.subject, c.subject_key, c.predicate, c.object, c.confidence, c.said_at, c.valid_from, c.valid_to, c.source,
       -- include readers_of
  FROM mnestic.claim AS c
 WHERE c.tenant_id = %(tenant_id)s AND c.agent_id = %(agent_id)s
   AND NOT EXISTS (SELECT FROM mnestic.resource AS r
                    WHERE r.tenant_id = c.tenant_id AND r.agent_id = c.agent_id
                      AND r.session_id = c.session_id AND r.source_id = c.source_id)
   AND (c.subject_key, c.predicate, c.id) > (%(after)s, %(after_predicate)s, %(after_id)s) -- if after
 ORDER BY c.subject_key, c.predicate, c.id
 LIMIT %(limit)s

-- name: list_episodes
-- Reads a page of episodes, newest first, with their readers.
SELECT session_id, job_id, summary, payload, created_at, id,
       -- include readers_of
  FROM mnestic.episode
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s
   AND (created_at, id) < (CAST(%(before)s AS timestamptz), %(before_id)s) -- if before
 ORDER BY created_at DESC, id DESC
 LIMIT %(limit)s

-- name: list_sessions
-- Reads a page of sessions with their states as they were written; one that nobody wrote is at version 0.
SELECT session_id, CAST(state AS text) AS state
  FROM mnestic.working_memory
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND version > 0
   AND session_id > %(after)s -- if after
 ORDER BY session_id
 LIMIT %(limit)s

-- name: list_nodes
-- Reads a page of the versions of declared nodes.
SELECT id, type, properties, valid_from, valid_to, key AS place
  FROM mnestic.graph_node
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s
   AND (valid_from, key) > (CAST(%(after)s AS timestamptz), %(after_id)s) -- if after
 ORDER BY valid_from, key
 LIMIT %(limit)s

-- name: list_edges
-- Reads a page of the versions of declared edges.
SELECT source, predicate AS type, target, properties, valid_from, valid_to, id AS place
  FROM mnestic.graph_edge
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND properties IS NOT NULL
   AND (valid_from, id) > (CAST(%(after)s AS timestamptz), %(after_id)s) -- if after
 ORDER BY valid_from, id
 LIMIT %(limit)s

-- name: add_node
-- Adds a version of a declared node, unless there is one for some of its time.
INSERT INTO mnestic.graph_node (tenant_id, agent_id, key, id, type, properties, valid_from, valid_to)
SELECT %(tenant_id)s, %(agent_id)s, %(key)s, %(id)s, %(type)s, CAST(%(properties)s AS jsonb), %(valid_from)s, %(valid_to)s
 WHERE NOT EXISTS (SELECT FROM mnestic.graph_node AS n
                    WHERE n.tenant_id = %(tenant_id)s AND n.agent_id = %(agent_id)s AND n.key = %(key)s
                      AND tstzrange(n.valid_from, n.valid_to)
                       && tstzrange(CAST(%(valid_from)s AS timestamptz), CAST(%(valid_to)s AS timestamptz)))
ON CONFLICT DO NOTHING

-- name: add_edge
-- Adds a version of a declared edge, which no reader sees, unless there is one of its type between its nodes for some of its time.
INSERT INTO mnestic.graph_edge
       (tenant_id, agent_id, id, source, source_key, predicate, target, target_key, weight, is_active, valid_from, valid_to,
        properties, audience)
SELECT %(tenant_id)s, %(agent_id)s, %(edge_id)s, %(source)s, %(source_key)s, %(type)s, %(target)s, %(target_key)s, 1, true,
       %(valid_from)s, %(valid_to)s, CAST(%(properties)s AS jsonb), -1
 WHERE NOT EXISTS (SELECT FROM mnestic.graph_edge AS e
                    WHERE e.tenant_id = %(tenant_id)s AND e.agent_id = %(agent_id)s AND e.source_key = %(source_key)s
                      AND e.target_key = %(target_key)s AND e.predicate = %(type)s AND e.properties IS NOT NULL
                      AND tstzrange(e.valid_from, e.valid_to)
                       && tstzrange(CAST(%(valid_from)s AS timestamptz), CAST(%(valid_to)s AS timestamptz)))
ON CONFLICT DO NOTHING

-- name: places_of_entries
-- Reads which messages entries were made of; those of no message are left out.
SELECT id, session_id, source_id
  FROM mnestic.entry
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND id = ANY(CAST(%(ids)s AS text[]))
   AND session_id IS NOT NULL AND source_id IS NOT NULL

-- name: places_of_archived
-- Reads which messages archived entries were made of; those of no message are left out.
SELECT id, session_id, source_id
  FROM mnestic.archived_entry
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND id = ANY(CAST(%(ids)s AS text[]))
   AND session_id IS NOT NULL AND source_id IS NOT NULL

-- name: add_messages
-- Adds messages in their order, without those that are there; returns which are new.
INSERT INTO mnestic.resource (tenant_id, agent_id, session_id, source_id, channel, speaker, content, at, offset_minutes, forgotten_at,
                              created_at)
SELECT %(tenant_id)s, %(agent_id)s, r.session_id, r.source_id, r.channel, r.speaker, r.content, r.at, r.offset_minutes, r.forgotten_at,
       now()
  FROM json_populate_recordset(CAST(NULL AS mnestic.resource), CAST(%(rows)s AS json)) AS r
ON CONFLICT DO NOTHING
RETURNING session_id, source_id

-- name: add_states
-- Adds the states of messages in their order, which gives them their numbers.
INSERT INTO mnestic.ingest_state (tenant_id, agent_id, session_id, source_id, state, kind, entry_type, job_id, workflow_run, corrects,
                                  extractor, extracted, replaces, reason, updated_at)
SELECT %(tenant_id)s, %(agent_id)s, r.session_id, r.source_id, r.state, r.kind, r.entry_type, r.job_id, r.workflow_run, r.corrects,
       r.extractor, r.extracted, r.replaces, r.reason, now()
  FROM json_populate_recordset(CAST(NULL AS mnestic.ingest_state), CAST(%(rows)s AS json)) AS r
ON CONFLICT DO NOTHING

-- name: add_record
-- Adds a record at its version, unless there is one of its key.
INSERT INTO mnestic.long_term_record (tenant_id, agent_id, namespace, key, value, version, created_at, updated_at, expires_at, metadata,
                                      backend_state)
VALUES (%(tenant_id)s, %(agent_id)s, %(namespace)s, %(key)s, %(value)s, %(version)s, %(created_at)s, %(updated_at)s, %(expires_at)s, CAST(%(metadata)s AS jsonb),
        CASE WHEN mnestic.backend_of(%(tenant_id)s, %(agent_id)s, %(namespace)s) IS NOT NULL THEN 'pending' END)
ON CONFLICT DO NOTHING

-- name: add_episode
-- Adds an episode, unless there is the same one, whatever its id. Without readers of its own it has those of its session.
INSERT INTO mnestic.episode (tenant_id, agent_id, id, session_id, job_id, summary, payload, created_at, audience)
SELECT %(tenant_id)s, %(agent_id)s, %(id)s, %(session_id)s, %(job_id)s, %(summary)s, CAST(%(payload)s AS jsonb),
       CAST(%(created_at)s AS timestamptz),
       COALESCE(CASE WHEN CAST(%(readers)s AS text[]) IS NOT NULL
                     THEN mnestic.audience_of_message(%(tenant_id)s, %(agent_id)s, '', '', CAST(%(readers)s AS text[])) END,
                -- include session_audience
               )
 WHERE NOT EXISTS (SELECT FROM mnestic.episode
                    WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s
                      AND session_id IS NOT DISTINCT FROM %(session_id)s AND job_id IS NOT DISTINCT FROM %(job_id)s
                      AND summary = %(summary)s AND payload = CAST(%(payload)s AS jsonb)
                      AND created_at = CAST(%(created_at)s AS timestamptz))
ON CONFLICT DO NOTHING
