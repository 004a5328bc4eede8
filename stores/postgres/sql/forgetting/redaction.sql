-- name: redact_snapshot
-- Writes what is left of a snapshot, which nothing else may change.
SELECT mnestic.redact_snapshot(%(forgetting)s, %(agent_id)s, %(id)s, %(body)s) AS written

-- name: redact_channel
-- Writes another channel of a message, which nothing else may change.
SELECT mnestic.redact_channel(%(forgetting)s, %(agent_id)s, %(session_id)s, %(source_id)s, %(channel)s) AS written

-- name: redact_audit
-- Writes what is left of a row of the audit log, which nothing else may change.
SELECT mnestic.redact_audit(%(forgetting)s, %(agent_id)s, %(id)s, %(target)s, CAST(%(reason)s AS text)) AS written

-- name: write_session
-- Writes what is left of the state of a session, to the byte, as a snapshot takes it.
UPDATE mnestic.working_memory
   SET state = CAST(%(state)s AS json), version = version + 1, updated_at = now()
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND session_id = %(session_id)s

-- name: write_record
-- Writes what is left of a record; null if it goes but its name.
UPDATE mnestic.long_term_record
   SET value = CAST(%(value)s AS jsonb), metadata = CAST(%(metadata)s AS jsonb), version = version + 1, updated_at = now(),
       backend_state = CASE WHEN backend_state IS NOT NULL THEN 'pending' END
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND namespace = %(namespace)s AND key = %(key)s

-- name: remove_record
-- Removes a record with its name. One that a backend has loses what it says, and is removed once the backend has removed it.
WITH emptied AS (
    UPDATE mnestic.long_term_record
       SET value = NULL, metadata = NULL, expires_at = NULL, version = version + 1, updated_at = now(), backend_state = 'forgotten'
     WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND namespace = %(namespace)s AND key = %(key)s
       AND backend_state <> 'forgotten'
)
DELETE FROM mnestic.long_term_record
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND namespace = %(namespace)s AND key = %(key)s
   AND backend_state IS NULL

-- name: write_archived
-- Writes what is left of the members of an archived entry.
UPDATE mnestic.archived_entry
   SET entry = entry || CAST(%(members)s AS jsonb)
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND id = %(id)s
