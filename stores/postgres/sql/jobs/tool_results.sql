-- name: put
-- Stores a result, unless there is one of its id. Its bytes stay as they are: jsonb would write numbers anew, and the hash
-- would not be theirs.
INSERT INTO mnestic.tool_result (tenant_id, agent_id, id, job_id, node, sha256, size_bytes, body, created_at)
VALUES (%(tenant_id)s, %(agent_id)s, %(id)s, %(job_id)s, %(node)s, %(sha256)s, %(size_bytes)s, %(body)s, now())
ON CONFLICT DO NOTHING

-- name: get
-- Reads the bytes of a result.
SELECT body
  FROM mnestic.tool_result
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND id = %(id)s
