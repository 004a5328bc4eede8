-- name: set
-- Sets the readers of what is said in a session or a channel from now on.
INSERT INTO mnestic.reader_default (tenant_id, agent_id, kind, name, readers)
VALUES (%(tenant_id)s, %(agent_id)s, %(kind)s, %(name)s, CAST(%(readers)s AS text[]))
ON CONFLICT (tenant_id, agent_id, kind, name) DO UPDATE SET readers = excluded.readers

-- name: remove
-- Has everybody read what is said in a session or a channel from now on.
DELETE FROM mnestic.reader_default
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND kind = %(kind)s AND name = %(name)s

-- name: list
-- Reads the readers of all sessions and channels that have some.
SELECT kind, name, readers
  FROM mnestic.reader_default
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s
 ORDER BY kind, name

-- name: find
-- Reads the readers of what is said in a session and a channel without any of its own.
SELECT readers
  FROM mnestic.reader_default
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s
   AND (kind = 'session' AND name = %(session_id)s OR kind = 'channel' AND name = %(channel)s)
 ORDER BY kind DESC LIMIT 1

-- name: are_used
-- Finds out whether anything was said for readers, or is to be.
SELECT 'set' AS found FROM mnestic.reader_set WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s
 UNION ALL
SELECT 'default' FROM mnestic.reader_default WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s
 LIMIT 1

-- name: of_session
-- Reads the audience of what is made of a session, whose set of readers may be added by it.
SELECT -- include session_audience
       AS audience

-- name: of_audience
-- Reads the readers of an audience.
SELECT readers
  FROM mnestic.reader_set
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND id = %(audience)s
