-- name: load
-- Reads the state of a session as it was written.
SELECT CAST(state AS text) AS state, version, last_checkpoint
  FROM mnestic.working_memory
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND session_id = %(session_id)s
   FOR UPDATE -- if lock

-- name: find_ref
-- Reads the version of a session, and the hash of its state.
SELECT version, encode(sha256(convert_to(CAST(state AS text), 'UTF8')), 'hex') AS sha256
  FROM mnestic.working_memory
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND session_id = %(session_id)s
   FOR UPDATE -- if lock

-- name: find_segments
-- Reads the segments of a session alone.
SELECT CAST(state -> 'segments' AS text) AS segments
  FROM mnestic.working_memory
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND session_id = %(session_id)s

-- name: insert_empty
-- Makes a row at version 0, for a lock or a checkpoint of a session that nobody wrote.
INSERT INTO mnestic.working_memory (tenant_id, agent_id, session_id, version, state, updated_at)
VALUES (%(tenant_id)s, %(agent_id)s, %(session_id)s, 0, CAST(%(empty)s AS json), now())
ON CONFLICT (tenant_id, agent_id, session_id) DO NOTHING
RETURNING version

-- name: checkpoint
-- Names the snapshot of a session; its state stays.
UPDATE mnestic.working_memory
   SET version = version + 1, last_checkpoint = %(snapshot_id)s, updated_at = now()
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND session_id = %(session_id)s
RETURNING CAST(state AS text) AS state, version, last_checkpoint

-- name: save
-- Writes the state of a session that is still at a version.
UPDATE mnestic.working_memory
   SET state = CAST(%(state)s AS json), version = version + 1, last_checkpoint = %(last_checkpoint)s, updated_at = now()
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND session_id = %(session_id)s AND version = %(version)s
RETURNING version

-- name: save_first
-- Writes the state of a session that nobody wrote; its row may be there, at version 0.
INSERT INTO mnestic.working_memory AS w (tenant_id, agent_id, session_id, version, state, last_checkpoint, updated_at)
VALUES (%(tenant_id)s, %(agent_id)s, %(session_id)s, 1, CAST(%(state)s AS json), %(last_checkpoint)s, now())
ON CONFLICT (tenant_id, agent_id, session_id) DO UPDATE
   SET state = excluded.state, version = 1, last_checkpoint = excluded.last_checkpoint, updated_at = now()
 WHERE w.version = 0
RETURNING version
