-- name: set_wait
-- Sets how long to wait for the lock: a session that has just ended may hold it a little longer.
SET lock_timeout = '10s'

-- name: find_database
-- Reads what the scratch database is called, and how texts are stored and sorted in its own.
SELECT left(datname, %(longest_name)s) || '_mnestic_scratch' AS name, pg_encoding_to_char(encoding) AS encoding, datcollate, datctype
  FROM pg_database WHERE datname = current_database()

-- name: lock
-- Locks the scratch database for this session.
SELECT pg_advisory_lock(%(lock)s) AS locked
