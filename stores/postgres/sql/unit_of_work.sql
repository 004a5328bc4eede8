-- name: now
-- Reads when the transaction began.
SELECT now() AS moment

-- name: clock
-- Reads what time it is.
SELECT clock_timestamp() AS moment

-- name: raise_revision
-- Raises the agent's revision before the end of the transaction.
INSERT INTO mnestic.agent_revision AS r (tenant_id, agent_id, revision, updated_at)
VALUES (%(tenant_id)s, %(agent_id)s, 1, now())
ON CONFLICT (tenant_id, agent_id) DO UPDATE SET revision = r.revision + 1, updated_at = now()
RETURNING revision
