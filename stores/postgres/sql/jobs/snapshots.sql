-- name: put
-- Stores a snapshot, unless there is one of its id.
INSERT INTO mnestic.memory_snapshot (tenant_id, agent_id, id, job_id, schema_version, sha256, body, memory_revision, created_at)
VALUES (%(tenant_id)s, %(agent_id)s, %(id)s, %(job_id)s, %(schema_version)s, %(sha256)s, %(body)s, %(memory_revision)s, now())
ON CONFLICT DO NOTHING

-- name: get
-- Reads a snapshot; where something of it was forgotten, with the hash of what is left.
SELECT body, sha256, schema_version, redacted_at, redacted_sha256
  FROM mnestic.memory_snapshot
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND id = %(id)s
