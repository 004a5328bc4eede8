-- name: lock
-- Locks the flushes of an agent, so that what is sent last is the latest.
SELECT pg_advisory_xact_lock(hashtextextended(%(name)s, 0)) AS locked

-- name: list_pending
-- Reads records that their backends lack, not many bytes of them; of some schemas, and without those of others. Without a backend,
-- their schema has none any more.
WITH next AS MATERIALIZED (
    SELECT tenant_id, agent_id, namespace AS schema_id, key, version, metadata, updated_at, expires_at, backend_state,
           CASE WHEN expires_at IS NULL OR expires_at > now() THEN value END AS value
      FROM mnestic.long_term_record
     WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND backend_state <> 'stored'
       AND namespace = ANY (CAST(%(schemas)s AS text[])) -- if schemas
       AND namespace <> ALL (CAST(%(without)s AS text[])) -- if without
     ORDER BY namespace, key
     LIMIT %(limit)s
), sized AS (
    SELECT *, sum(octet_length(CAST(value AS text)))
              OVER (ORDER BY schema_id, key ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
      FROM next
)
SELECT tenant_id, agent_id, schema_id, key, version, metadata, updated_at, expires_at, backend_state, value,
       mnestic.backend_of(tenant_id, agent_id, schema_id) AS backend
  FROM sized
 WHERE COALESCE(before, 0) < %(bytes)s
 ORDER BY schema_id, key

-- name: settle
-- Notes what backends have: of records that nobody has written meanwhile. One of which a backend has a later version gets a later
-- one, and stays pending.
UPDATE mnestic.long_term_record AS r
   SET version = CASE WHEN s.stored > s.version THEN s.stored + 1 ELSE r.version END,
       backend_state = CASE WHEN s.stored > s.version THEN 'pending' WHEN s.stored > 0 THEN 'stored' END
  FROM unnest(CAST(%(schemas)s AS text[]), CAST(%(keys)s AS text[]), CAST(%(versions)s AS integer[]), CAST(%(stored)s AS integer[]))
       AS s (schema_id, key, version, stored)
 WHERE r.tenant_id = %(tenant_id)s AND r.agent_id = %(agent_id)s AND r.namespace = s.schema_id AND r.key = s.key
   AND r.version = s.version AND r.backend_state = 'pending'

-- name: remove_forgotten
-- Removes records that were forgotten, once their backends have removed them.
DELETE FROM mnestic.long_term_record AS r
 USING unnest(CAST(%(schemas)s AS text[]), CAST(%(keys)s AS text[])) AS s (schema_id, key)
 WHERE r.tenant_id = %(tenant_id)s AND r.agent_id = %(agent_id)s AND r.namespace = s.schema_id AND r.key = s.key
   AND r.backend_state = 'forgotten'

-- name: take
-- Takes a later version of a record from its backend, unless there is a write that the backend lacks.
INSERT INTO mnestic.long_term_record AS r
       (tenant_id, agent_id, namespace, key, version, value, metadata, created_at, updated_at, expires_at, backend_state)
VALUES (%(tenant_id)s, %(agent_id)s, %(schema_id)s, %(key)s, %(version)s, %(value)s, CAST(%(metadata)s AS jsonb), now(),
        %(updated_at)s, %(expires_at)s, 'stored')
ON CONFLICT (tenant_id, agent_id, namespace, key) DO UPDATE
   SET value = excluded.value, metadata = excluded.metadata, version = excluded.version, updated_at = excluded.updated_at,
       expires_at = excluded.expires_at, backend_state = 'stored'
 WHERE COALESCE(r.backend_state, 'stored') = 'stored' AND r.version < excluded.version

-- name: drop
-- Removes the value of a record that its backend has no more.
UPDATE mnestic.long_term_record
   SET value = NULL, metadata = NULL, expires_at = NULL, version = version + 1, updated_at = now()
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND namespace = %(schema_id)s AND key = %(key)s
   AND backend_state = 'stored' AND version = %(version)s
