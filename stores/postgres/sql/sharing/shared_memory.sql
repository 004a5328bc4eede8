-- name: list_grants
-- Reads the grants of a namespace, or of all.
SELECT namespace, selector, level, granted_by
  FROM mnestic.namespace_grant
 WHERE tenant_id = %(tenant_id)s
   AND namespace = %(namespace)s -- if namespace
 ORDER BY namespace, selector, granted_by

-- name: grant
-- Makes a grant, or changes its level.
INSERT INTO mnestic.namespace_grant (tenant_id, namespace, selector, granted_by, level)
VALUES (%(tenant_id)s, %(namespace)s, %(selector)s, %(granted_by)s, %(level)s)
ON CONFLICT (tenant_id, namespace, selector, granted_by) DO UPDATE SET level = excluded.level

-- name: revoke
-- Takes grants of a namespace away: those of a selector, or all.
DELETE FROM mnestic.namespace_grant
 WHERE tenant_id = %(tenant_id)s AND namespace = %(namespace)s
   AND selector = %(selector)s -- if selector

-- name: remove_grants
-- Takes the grants of a contract away, before those of its next version are made.
DELETE FROM mnestic.namespace_grant
 WHERE tenant_id = %(tenant_id)s AND granted_by = %(granted_by)s

-- name: lock_key
-- Has who writes a key, locks it or drops its namespace wait for the end of the transaction.
SELECT pg_advisory_xact_lock_shared(hashtextextended(%(namespace_lock)s, 0)) AS of_namespace,
       pg_advisory_xact_lock(hashtextextended(%(key_lock)s, 0)) AS of_key

-- name: limit_idle
-- Has a process that is stopped within the transaction lose it, so that others need not wait. It stands alone in its round trip:
-- Postgres does not begin to count after a pipeline.
SELECT set_config('idle_in_transaction_session_timeout', '5000', true) AS stopped

-- name: lock_namespace
-- Has those who write in a namespace wait for the end of the transaction.
SELECT pg_advisory_xact_lock(hashtextextended(%(namespace_lock)s, 0)) AS of_namespace

-- name: find
-- Reads the row of a key, removed and expired ones too; `live` tells them apart. `read_at` is when the transaction began.
SELECT key, version, value, agent_id, metadata, created_at, updated_at, expires_at,
       value IS NOT NULL AND (expires_at IS NULL OR expires_at > now()) AS live, now() AS read_at, clock_timestamp() AS clock
  FROM mnestic.long_term_record
 WHERE tenant_id = %(tenant_id)s AND namespace = %(stored_in)s AND starts_with(namespace, '~shared/') AND key = %(key)s

-- name: insert_empty
-- Makes the row of a key at version 0.
INSERT INTO mnestic.long_term_record (tenant_id, agent_id, namespace, key, version, created_at, updated_at)
VALUES (%(tenant_id)s, %(agent_id)s, %(stored_in)s, %(key)s, 0, now(), now())
ON CONFLICT DO NOTHING

-- name: set
-- Writes the value of a key, which is the agent's then.
UPDATE mnestic.long_term_record
   SET agent_id = %(agent_id)s, value = %(value)s, version = version + 1, updated_at = now(),
       created_at = CASE WHEN CAST(%(is_live)s AS boolean) THEN created_at ELSE now() END,
       expires_at = now() + CAST(%(ttl)s AS interval), metadata = CAST(%(metadata)s AS jsonb)
 WHERE tenant_id = %(tenant_id)s AND namespace = %(stored_in)s AND starts_with(namespace, '~shared/') AND key = %(key)s

-- name: remove
-- Removes the value of a key, or of all of a namespace; the version goes on.
UPDATE mnestic.long_term_record
   SET value = NULL, version = version + 1, updated_at = now(), expires_at = NULL, metadata = NULL
 WHERE tenant_id = %(tenant_id)s AND namespace = %(stored_in)s AND starts_with(namespace, '~shared/') AND value IS NOT NULL
   AND key = %(key)s -- if key

-- name: list_records
-- Reads a page of the live records of a namespace.
SELECT key, version, value, agent_id, metadata, created_at, updated_at, expires_at
  FROM mnestic.long_term_record
 WHERE tenant_id = %(tenant_id)s AND namespace = %(stored_in)s AND starts_with(namespace, '~shared/')
   AND value IS NOT NULL AND (expires_at IS NULL OR expires_at > now())
   AND key > %(after)s -- if after
 ORDER BY key
 LIMIT %(limit)s

-- name: find_lease
-- Reads the lease of a key, or the one of a namespace that ends last; the database's clock says whether it is held.
SELECT key, agent_id, token, expires_at, expires_at > clock_timestamp() AS is_held
  FROM mnestic.lease
 WHERE tenant_id = %(tenant_id)s AND namespace = %(namespace)s
   AND key = %(key)s -- if key
 ORDER BY expires_at DESC
 LIMIT 1

-- name: acquire
-- Takes the lease of a key that nobody holds. Tokens are microseconds of the clock, or one more than the last if it went back: so
-- they grow also where a row was removed, or an old backup was restored.
INSERT INTO mnestic.lease AS l (tenant_id, namespace, key, agent_id, token, acquired_at, expires_at)
SELECT %(tenant_id)s, %(namespace)s, %(key)s, %(agent_id)s, CAST(extract(epoch FROM moment) * 1000000 AS bigint),
       moment, moment + CAST(%(timeout_ms)s AS integer) * interval '1 millisecond'
  FROM (SELECT clock_timestamp() AS moment OFFSET 0) AS clock
ON CONFLICT (tenant_id, namespace, key) DO UPDATE
   SET agent_id = excluded.agent_id, token = greatest(l.token + 1, excluded.token), acquired_at = excluded.acquired_at,
       expires_at = excluded.expires_at
 WHERE l.expires_at <= clock_timestamp()
RETURNING token, acquired_at, expires_at

-- name: release
-- Ends a lease that the agent holds.
UPDATE mnestic.lease SET expires_at = clock_timestamp()
 WHERE tenant_id = %(tenant_id)s AND namespace = %(namespace)s AND key = %(key)s AND agent_id = %(agent_id)s
   AND token = %(token)s AND expires_at > clock_timestamp()
