-- name: find_database
-- Reads whether the embedded Postgres has a database.
SELECT datname FROM pg_database WHERE datname = %(name)s

-- name: create_database
-- Makes the database of the embedded Postgres.
CREATE DATABASE mnestic
