-- name: append
-- Adds messages, but those that are there.
INSERT INTO mnestic.resource (tenant_id, agent_id, session_id, source_id, channel, speaker, content, at, offset_minutes, created_at,
                              audience)
SELECT %(tenant_id)s, %(agent_id)s, r.session_id, r.source_id, r.channel, r.speaker, r.content, r.at, r.offset_minutes, now(),
       mnestic.audience_of_message(%(tenant_id)s, %(agent_id)s, r.session_id, r.channel, r.readers)
  FROM json_to_recordset(CAST(%(rows)s AS json)) AS r (
       session_id text, source_id text, channel text, speaker text, content text, at timestamptz, offset_minutes smallint,
       readers text[])
ON CONFLICT DO NOTHING

-- name: list_by_session
-- Reads a page of the messages of a session, oldest first; the order is that of the index, the same in every database.
SELECT session_id, source_id, channel, speaker, content, at, offset_minutes, -- include readers_of
  FROM mnestic.resource
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND session_id = %(session_id)s AND forgotten_at IS NULL
   AND (at, source_id COLLATE "C") > (CAST(%(after)s AS timestamptz), %(after_id)s) -- if after
 ORDER BY at, source_id COLLATE "C"
 LIMIT %(limit)s

-- name: select_readers
-- Reads the readers of messages.
SELECT session_id, source_id, -- include readers_of
  FROM mnestic.resource
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s
   AND (session_id, source_id) IN (SELECT place.session_id, place.source_id
                                     FROM unnest(CAST(%(sessions)s AS text[]), CAST(%(sources)s AS text[]))
                                       AS place (session_id, source_id))
