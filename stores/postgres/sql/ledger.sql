-- name: enter
-- Enters an operation before its writes, unless its key is there.
INSERT INTO mnestic.operation (tenant_id, key, name, agent_id, job_id, request_hash, created_at)
VALUES (%(tenant_id)s, %(key)s, %(name)s, %(agent_id)s, %(job_id)s, %(request_hash)s, now())
ON CONFLICT DO NOTHING

-- name: find
-- Reads the result of an operation, and for whom and what it was.
SELECT request_hash, agent_id, result
  FROM mnestic.operation
 WHERE tenant_id = %(tenant_id)s AND key = %(key)s

-- name: complete
-- Writes the result of an operation.
UPDATE mnestic.operation
   SET result = CAST(%(result)s AS jsonb)
 WHERE tenant_id = %(tenant_id)s AND key = %(key)s

-- name: list
-- Reads a page of the operations of a job, oldest first.
SELECT key, name, created_at
  FROM mnestic.operation
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND job_id = %(job_id)s
   AND (created_at, key) > (CAST(%(after)s AS timestamptz), %(after_key)s) -- if after
 ORDER BY created_at, key
 LIMIT %(limit)s
