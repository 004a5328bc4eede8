-- name: find_process
-- Reads the server's process of a session.
SELECT pg_backend_pid() AS pid
