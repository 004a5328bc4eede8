-- name: find_role
-- Reads the session's role, whether there is the application's, and whether the one may become the other.
SELECT current_user AS name, count(*) > 0 AS is_there, COALESCE(bool_and(pg_has_role(oid, %(right)s)), false) AS is_member
  FROM pg_roles
 WHERE rolname = 'mnestic_app'

-- name: find_pgvector
-- Reads the version of pgvector in the database.
SELECT extversion FROM pg_extension WHERE extname = 'vector'

-- name: count_damage
-- Reads how many pages have failed their checksum.
SELECT COALESCE(checksum_failures, 0) AS pages FROM pg_stat_database WHERE datname = current_database()

-- name: list_unusable
-- Reads the indexes that no query can use, but for those that are being built.
SELECT i.indexrelid::regclass::text AS name
       -- include unusable_indexes
 ORDER BY 1
