-- name: set
-- Sets the readers of what is said in a session or a channel from now on.
INSERT INTO mnestic.reader_default (tenant_id, agent_id, kind, name, readers)
VALUES (%(tenant_id)s, %(agent_id)s, %(kind)s, %(name)s, CAST(%(readers)s AS text[]))
ON CONFLICT (tenant_id, agent_id, kind, name) DO UPDATE SET readers = excluded.readers

-- name: remove
-- Has everybody read what is said in a session or a channel from now on.
DELETE FROM mnestic.reader_default
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND kind = %(kind)s AND name = %(name)s

-- name: inherit
-- Gives a session that is forked at a wait the readers that the wait's session has, unless it has its own.
INSERT INTO mnestic.reader_default (tenant_id, agent_id, kind, name, readers)
SELECT d.tenant_id, d.agent_id, d.kind, %(session_id)s, d.readers
  FROM mnestic.job_wait AS w
  JOIN mnestic.reader_default AS d ON d.tenant_id = w.tenant_id AND d.agent_id = w.agent_id AND d.kind = 'session' AND d.name = w.session_id
 WHERE w.tenant_id = %(tenant_id)s AND w.agent_id = %(agent_id)s AND w.wait_id = %(wait_id)s
ON CONFLICT DO NOTHING

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
