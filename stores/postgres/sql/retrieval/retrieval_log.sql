-- name: add
-- Notes what was put before a message.
INSERT INTO mnestic.memory_retrievals (tenant_id, agent_id, channel, preview, memories, notes, skipped, tokens, created_at)
VALUES (%(tenant_id)s, %(agent_id)s, %(channel)s, %(preview)s, %(memories)s, %(notes)s, %(skipped)s, %(tokens)s, now())

-- name: list
-- Reads a page of the log, newest first.
SELECT id, channel, preview, memories, notes, skipped, tokens, created_at
  FROM mnestic.memory_retrievals
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s
   AND id < CAST(%(before)s AS bigint) -- if before
 ORDER BY id DESC
 LIMIT %(limit)s

-- name: list_with
-- Reads where an entry was put before a message, newest first. No index serves it, so it looks through the latest alone.
SELECT id, channel, preview, memories, notes, skipped, tokens, created_at
  FROM mnestic.memory_retrievals
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s
   AND id IN (SELECT id FROM mnestic.memory_retrievals
               WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s
               ORDER BY id DESC
               LIMIT 1000)
   AND memories @> jsonb_build_array(jsonb_build_object('id', CAST(%(entry_id)s AS text)))
 ORDER BY id DESC
 LIMIT %(limit)s

-- name: sum
-- Adds up what was put before messages from a moment to another, of an agent or of all.
SELECT count(*) AS retrievals, coalesce(sum(tokens), 0) AS tokens
  FROM mnestic.memory_retrievals
 WHERE tenant_id = %(tenant_id)s
   AND created_at >= CAST(%(since)s AS timestamptz) AND created_at < CAST(%(until)s AS timestamptz)
   AND agent_id = %(of_agent)s -- if of_agent
