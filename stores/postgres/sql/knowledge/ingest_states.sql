-- name: lock
-- Takes the lock of an agent's ingestion until the end of the transaction.
SELECT pg_advisory_xact_lock(hashtextextended(%(name)s, 0)) AS locked

-- name: lock_messages
-- Locks the states of messages, in one order for everybody.
SELECT s.number
  FROM mnestic.ingest_state AS s
  JOIN unnest(CAST(%(sessions)s AS text[]), CAST(%(sources)s AS text[])) AS place (session_id, source_id)
    ON s.session_id = place.session_id AND s.source_id = place.source_id
 WHERE s.tenant_id = %(tenant_id)s AND s.agent_id = %(agent_id)s
 ORDER BY s.session_id, s.source_id
   FOR UPDATE OF s

-- name: select
-- Reads some messages with their states.
WITH step AS (
    SELECT -- include ingest_columns
      FROM mnestic.ingest_state
     WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s
       AND (session_id, source_id) IN (SELECT place.session_id, place.source_id
                                         FROM unnest(CAST(%(sessions)s AS text[]), CAST(%(sources)s AS text[]))
                                           AS place (session_id, source_id))
)
-- include ingest_messages

-- name: find
-- Reads a message with its state.
WITH step AS (
    SELECT -- include ingest_columns
      FROM mnestic.ingest_state
     WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND session_id = %(session_id)s AND source_id = %(source_id)s
       FOR UPDATE -- if lock
)
-- include ingest_messages

-- name: list_by_state
-- Reads the oldest messages in a state; locked ones are those that nobody else has locked, all for the same readers. The
-- collation is that of the index, which has none that were learned from.
WITH step AS (
    SELECT -- include ingest_columns
      FROM mnestic.ingest_state
     WHERE tenant_id = %(tenant_id)s AND agent_id COLLATE "C" = %(agent_id)s AND state = %(state)s
       AND state <> 'learned' -- if unlearned
       AND number > %(after)s -- if after
       AND number <= %(until)s -- if until
       AND audience = (SELECT audience FROM mnestic.ingest_state -- if lock
                        WHERE tenant_id = %(tenant_id)s AND agent_id COLLATE "C" = %(agent_id)s AND state = %(state)s -- if lock
                          AND state <> 'learned' -- if lock
                        ORDER BY number LIMIT 1) -- if lock
     ORDER BY number
     LIMIT %(limit)s
       FOR UPDATE SKIP LOCKED -- if lock
)
-- include ingest_messages

-- name: store_extracted
-- Stores what was extracted from messages that have just been received.
UPDATE mnestic.ingest_state AS t
   SET state = r.state, extractor = r.extractor, extracted = r.extracted, replaces = r.replaces, context = r.context,
       updated_at = now()
  FROM json_populate_recordset(CAST(NULL AS mnestic.ingest_state), CAST(%(rows)s AS json)) AS r
 WHERE t.tenant_id = %(tenant_id)s AND t.agent_id = %(agent_id)s AND t.session_id = r.session_id AND t.source_id = r.source_id
   AND t.number = r.number AND t.state = 'received'

-- name: set
-- Moves messages that are in one of some states to another; without one, to where they were before they were parked.
UPDATE mnestic.ingest_state
   SET state = COALESCE(%(state)s, CASE WHEN extractor IS NULL THEN 'received' ELSE 'extracted' END), reason = %(reason)s,
       updated_at = now()
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND state = ANY(CAST(%(states)s AS text[]))
   AND (session_id, source_id) IN (SELECT place.session_id, place.source_id
                                     FROM unnest(CAST(%(sessions)s AS text[]), CAST(%(sources)s AS text[]))
                                       AS place (session_id, source_id))
   AND context IS NOT NULL -- if with_context

-- name: count
-- Counts the messages in each state, and those of them that no extractor has read.
SELECT state, count(*) AS number, count(*) FILTER (WHERE extractor = %(no_extractor)s) AS unread
  FROM mnestic.ingest_state
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s
 GROUP BY state

-- name: find_last_learned
-- Finds when a message was last learned from.
SELECT max(updated_at) AS at
  FROM mnestic.ingest_state
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND state = 'learned'

-- name: find_pending
-- Finds a message that is to be extracted, or learned from.
SELECT state
  FROM mnestic.ingest_state
 WHERE tenant_id = %(tenant_id)s AND agent_id COLLATE "C" = %(agent_id)s AND state IN ('received', 'extracted')
 LIMIT 1
