-- name: find
-- Reads the row of a key, removed and expired ones too; `live` tells them apart. `read_at` is when the transaction began.
SELECT namespace, key, version, value, created_at, updated_at, expires_at, metadata, backend_state,
       value IS NOT NULL AND (expires_at IS NULL OR expires_at > now()) AS live, now() AS read_at
  FROM mnestic.long_term_record
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND namespace = %(namespace)s AND key = %(key)s
   FOR UPDATE -- if lock

-- name: insert_empty
-- Makes the row of a key at version 0, so that it can be locked.
INSERT INTO mnestic.long_term_record (tenant_id, agent_id, namespace, key, version, created_at, updated_at)
VALUES (%(tenant_id)s, %(agent_id)s, %(namespace)s, %(key)s, 0, now(), now())
ON CONFLICT DO NOTHING

-- name: find_rules
-- Finds the schema of a namespace in the contract in force for the agent, and its backend, null where that is this database.
SELECT c.selector, c.version, s.rules, mnestic.backend_of(%(tenant_id)s, %(agent_id)s, %(namespace)s) AS backend,
       COALESCE(c.document #>> '{Memory,long_term,sync,conflict_resolution}' = 'merge', false) AS keeps_versions
  FROM mnestic.contract_of(%(tenant_id)s, %(agent_id)s) AS c,
       json_array_elements(c.document #> '{Memory,long_term,schemas}') AS s (rules)
 WHERE s.rules ->> 'schema_id' = %(namespace)s AND c.document #>> '{Memory,long_term,enabled}' = 'true'

-- name: expire
-- Ends records of a schema, their versions and conflicts, that are older than it keeps them, of the agents whose contract is that
-- of a selector.
UPDATE mnestic.long_term_record AS r
   SET expires_at = r.updated_at + CAST(%(ttl)s AS interval), backend_state = CASE WHEN backend_state IS NOT NULL THEN 'pending' END
 WHERE r.tenant_id = %(tenant_id)s AND r.namespace = ANY (%(namespaces)s) AND r.value IS NOT NULL
   AND (r.expires_at IS NULL OR r.expires_at > r.updated_at + CAST(%(ttl)s AS interval))
   AND r.agent_id IN (
       SELECT o.agent_id
         FROM (SELECT DISTINCT agent_id FROM mnestic.long_term_record
                WHERE tenant_id = %(tenant_id)s AND namespace = ANY (%(namespaces)s)) AS o,
              mnestic.contract_of(%(tenant_id)s, o.agent_id) AS c
        WHERE c.selector = %(selector)s)

-- name: send_again
-- Has records of schemas sent to their backends, of all agents or of one.
UPDATE mnestic.long_term_record SET backend_state = 'pending'
 WHERE tenant_id = %(tenant_id)s AND namespace = ANY (CAST(%(schemas)s AS text[])) AND value IS NOT NULL
   AND agent_id = %(of_agent)s -- if of_agent

-- name: set
-- Writes the value of a key whose row is locked; one that was dead is created anew.
UPDATE mnestic.long_term_record
   SET value = %(value)s, version = version + 1, updated_at = now(),
       created_at = CASE WHEN CAST(%(is_live)s AS boolean) THEN created_at ELSE now() END,
       expires_at = now() + CAST(%(ttl)s AS interval), metadata = CAST(%(metadata)s AS jsonb),
       backend_state = CASE WHEN CAST(%(is_remote)s AS boolean) THEN 'pending' END
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND namespace = %(namespace)s AND key = %(key)s

-- name: delete
-- Removes the value of a key whose row is locked; the version goes on.
UPDATE mnestic.long_term_record
   SET value = NULL, version = version + 1, updated_at = now(), expires_at = NULL, metadata = NULL,
       backend_state = CASE WHEN backend_state IS NOT NULL THEN 'pending' END
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND namespace = %(namespace)s AND key = %(key)s

-- name: end_versions
-- Removes what versions of a record say.
UPDATE mnestic.long_term_record
   SET value = NULL, version = version + 1, updated_at = now(), expires_at = NULL, metadata = NULL
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND namespace = %(namespace)s
   AND starts_with(key, %(keys)s) AND value IS NOT NULL

-- name: list_by_namespace
-- Reads a page of the live records of a namespace, or of all, by name; with those that Mnestic alone writes, such as versions, if asked to.
SELECT namespace, key, version, value, created_at, updated_at, expires_at, metadata
  FROM mnestic.long_term_record
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s
   AND value IS NOT NULL AND (expires_at IS NULL OR expires_at > now()) AND NOT starts_with(namespace, '~shared/')
   AND namespace = %(of_namespace)s -- if of_namespace
   AND namespace !~ '^~(versions|conflicts|histories)/' -- if plain
   AND key <= %(until)s -- if until
   AND (namespace, key) > (%(after_namespace)s, %(after)s) -- if after
 ORDER BY namespace, key
 LIMIT %(limit)s

-- name: select
-- Reads all rows of some keys, dead ones too; `live` tells them apart.
SELECT namespace, key, version, value, created_at, updated_at, expires_at, metadata, backend_state,
       value IS NOT NULL AND (expires_at IS NULL OR expires_at > now()) AS live
  FROM mnestic.long_term_record
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s
   AND (namespace, key) IN (SELECT named.namespace, named.key
                              FROM unnest(CAST(%(namespaces)s AS text[]), CAST(%(keys)s AS text[])) AS named (namespace, key))

-- name: add_read
-- Adds a record to a job's read set. What was seen last counts; of a namespace, which has no key, the most that was read,
-- and the furthest key that it was read to: null is to its end.
INSERT INTO mnestic.job_read AS r (tenant_id, agent_id, job_id, namespace, key, version, value, pinned)
VALUES (%(tenant_id)s, %(agent_id)s, %(job_id)s, %(namespace)s, %(key)s, %(version)s, %(value)s, %(pinned)s)
ON CONFLICT (tenant_id, agent_id, job_id, namespace, key) DO UPDATE
   SET version = CASE WHEN r.key = '' THEN greatest(r.version, excluded.version) ELSE excluded.version END,
       value = CASE WHEN r.key <> '' THEN excluded.value
                    WHEN r.value IS NULL OR excluded.value IS NULL THEN NULL
                    ELSE to_jsonb(greatest(r.value #>> '{}', excluded.value #>> '{}')) END,
       pinned = excluded.pinned

-- name: lock_reads
-- Locks the read set of a job until the end of the transaction.
SELECT pg_advisory_xact_lock(hashtextextended(%(name)s, 0)) AS locked

-- name: list_reads
-- Reads the read set of a job, or what is pinned of it.
SELECT namespace, key, version, value, pinned
  FROM mnestic.job_read
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND job_id = %(job_id)s
   AND pinned -- if only_pinned
 ORDER BY namespace, key

-- name: remove_reads
-- Removes the read set of a job.
DELETE FROM mnestic.job_read
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND job_id = %(job_id)s
