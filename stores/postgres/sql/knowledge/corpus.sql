-- name: add
-- Makes the agent's row of `corpus`, so that it can be locked.
INSERT INTO mnestic.corpus (tenant_id, agent_id, entries, lexemes, languages)
VALUES (%(tenant_id)s, %(agent_id)s, 0, 0, '{}')
ON CONFLICT DO NOTHING

-- name: lock
-- Locks the agent's indexes. Whoever writes them holds this row. So what is read behind this lock is what nobody else changes
-- meanwhile: neither the messages that state a fact nor its entry.
SELECT FROM mnestic.corpus WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s FOR UPDATE
