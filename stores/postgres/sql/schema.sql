-- name: lock
-- Locks the database until the end of the transaction: one migration at a time.
SELECT pg_advisory_xact_lock(%(lock)s) AS locked

-- name: create
-- Makes the schema, whose first table is Alembic's own.
CREATE SCHEMA IF NOT EXISTS mnestic

-- name: find_table
-- Reads whether the database was ever migrated.
SELECT to_regclass('mnestic.alembic_version') IS NOT NULL AS is_there

-- name: find_version
-- Reads the revision of the schema.
SELECT version_num FROM mnestic.alembic_version
