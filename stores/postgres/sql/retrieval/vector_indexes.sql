-- name: find_right
-- Reads whether the role owns the vectors.
SELECT pg_has_role(relowner, 'USAGE') AS may FROM pg_class WHERE oid = 'mnestic.embedding'::regclass

-- name: list_large
-- Reads the models of large memories, the largest first.
SELECT agent_id, model FROM mnestic.embedding_model WHERE tenant_id = %(tenant_id)s AND entries >= %(at_least)s
 ORDER BY entries DESC, agent_id, model

-- name: set_tenant
-- Sets the tenant of this session.
SELECT set_config('mnestic.tenant_id', %(tenant_id)s, false) AS tenant

-- name: find_dimensions
-- Reads how long the vectors of a model are.
SELECT dimensions FROM mnestic.embedding WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND model = %(model)s LIMIT 1

-- name: list_indexes
-- Reads the indexes whose names begin alike.
SELECT c.relname AS name, i.indisvalid AS is_valid
  FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid
 WHERE i.indrelid = 'mnestic.embedding'::regclass AND starts_with(c.relname, %(prefix)s)

-- name: try_lock
-- Locks the building of indexes for this session, unless another builds some.
SELECT pg_try_advisory_lock(%(lock)s) AS locked

-- name: unlock
-- Ends that lock.
SELECT pg_advisory_unlock(%(lock)s) AS unlocked
