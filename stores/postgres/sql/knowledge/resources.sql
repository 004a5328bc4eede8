-- name: append
-- Adds messages, but those that are there.
INSERT INTO mnestic.resource (tenant_id, agent_id, session_id, source_id, channel, speaker, content, at, offset_minutes, created_at)
SELECT %(tenant_id)s, %(agent_id)s, r.session_id, r.source_id, r.channel, r.speaker, r.content, r.at, r.offset_minutes, now()
  FROM json_populate_recordset(CAST(NULL AS mnestic.resource), CAST(%(rows)s AS json)) AS r
ON CONFLICT DO NOTHING

-- name: list_by_session
-- Reads a page of the messages of a session, oldest first; the order is that of the index, the same in every database.
SELECT session_id, source_id, channel, speaker, content, at, offset_minutes
  FROM mnestic.resource
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND session_id = %(session_id)s AND forgotten_at IS NULL
   AND (at, source_id COLLATE "C") > (CAST(%(after)s AS timestamptz), %(after_id)s) -- if after
 ORDER BY at, source_id COLLATE "C"
 LIMIT %(limit)s
