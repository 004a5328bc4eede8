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

-- name: verify_open
-- Verifies the snapshots of a page of the tenant's open waits, by their ids.
SELECT w.wait_id, w.job_id,
       COALESCE(encode(sha256(s.body), 'hex') = COALESCE(s.redacted_sha256, s.sha256), false) AS is_whole
  FROM mnestic.job_wait AS w
  LEFT JOIN mnestic.memory_snapshot AS s ON s.tenant_id = w.tenant_id AND s.id = w.snapshot_id
 WHERE w.tenant_id = %(tenant_id)s AND w.state = 'waiting' AND w.wait_id > %(after)s
 ORDER BY w.wait_id
 LIMIT %(limit)s
