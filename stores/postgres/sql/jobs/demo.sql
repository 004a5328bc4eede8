-- name: list_writes
-- Reads every write of the demo's agent by its identity: a kind, a name, and of records each of their versions.
SELECT 'message' AS kind, message ->> 'id' AS name, '' AS write
  FROM mnestic.working_memory, json_array_elements(state -> 'messages') AS message
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s
UNION ALL
SELECT 'episode', COALESCE(payload ->> 'conversation', payload ->> 'plan'), ''
  FROM mnestic.episode WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s
UNION ALL
SELECT 'record', namespace || '/' || key, write::text
  FROM mnestic.long_term_record, generate_series(1, version) AS write
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s
UNION ALL
SELECT 'resource', session_id || '/' || source_id, ''
  FROM mnestic.resource WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s
UNION ALL
SELECT 'tool call', row_number() OVER ()::text, ''
  FROM mnestic.working_memory, json_array_elements(state -> 'tool_calls')
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s
UNION ALL
SELECT 'wait', wait_id, ''
  FROM mnestic.job_wait WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s
UNION ALL
SELECT 'snapshot', row_number() OVER ()::text, ''
  FROM mnestic.memory_snapshot WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s

-- name: list_snapshots
-- Reads the snapshots of the waits of the demo's job, and whether each has the hash that its row and its wait say.
SELECT s.sha256, octet_length(s.body) AS bytes,
       encode(sha256(s.body), 'hex') = s.sha256 AND w.receipt ->> 'snapshot_sha256' = s.sha256 AS is_verified, w.state
  FROM mnestic.job_wait AS w
  JOIN mnestic.memory_snapshot AS s ON s.tenant_id = w.tenant_id AND s.id = w.snapshot_id
 WHERE w.tenant_id = %(tenant_id)s AND w.agent_id = %(agent_id)s AND w.job_id = %(job_id)s
 ORDER BY w.opened_at
