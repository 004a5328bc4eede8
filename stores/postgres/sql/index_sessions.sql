-- name: find_right
-- Reads whether the role owns the tables.
SELECT pg_has_role(relowner, 'USAGE') AS may FROM pg_class WHERE oid = 'mnestic.embedding'::regclass

-- name: set_tenant
-- Sets the tenant of this session.
SELECT set_config('mnestic.tenant_id', %(tenant_id)s, false) AS tenant

-- name: list_indexes
-- Reads the indexes of a table whose names begin alike.
SELECT c.relname AS name, i.indisvalid AS is_valid
  FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid
 WHERE i.indrelid = CAST(%(table)s AS regclass) AND starts_with(c.relname, %(prefix)s)

-- name: try_lock
-- Locks the building of indexes for this session, unless another builds some.
SELECT pg_try_advisory_lock(%(lock)s) AS locked

-- name: unlock
-- Ends that lock.
SELECT pg_advisory_unlock(%(lock)s) AS unlocked
