-- name: lock
-- Takes locks until the end of the transaction, in the order of their keys.
SELECT pg_advisory_xact_lock(k) AS locked FROM unnest(CAST(%(keys)s AS bigint[])) AS k

-- name: share
-- Takes a lock together with others until the end of the transaction.
SELECT pg_advisory_xact_lock_shared(CAST(%(key)s AS bigint)) AS locked
