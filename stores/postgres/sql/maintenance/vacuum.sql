-- name: set_limits
-- Sets how long a statement may run, how long it may wait for others, and how much it spares the disk, for this session.
SELECT set_config('statement_timeout', %(minutes)s || 'min', false) AS statement,
       set_config('lock_timeout', %(seconds)s || 's', false) AS lock, set_config('vacuum_cost_delay', '2ms', false) AS delay

-- name: list_due
-- Reads the tables that were not vacuumed within a day.
SELECT c.relname AS name FROM pg_class AS c JOIN pg_stat_all_tables AS s ON s.relid = c.oid
 WHERE c.relnamespace = 'mnestic'::regnamespace AND c.relkind = 'r'
   AND (s.last_vacuum IS NULL OR s.last_vacuum < now() - interval '20 hours')
 ORDER BY c.relname COLLATE "C"

-- name: list_left_over
-- Reads what an interrupted REINDEX CONCURRENTLY has left: its new index, or the old one, which every write still pays for.
SELECT c.relname AS name FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid
 WHERE c.relnamespace = 'mnestic'::regnamespace AND NOT i.indisvalid AND c.relname ~ '_cc(new|old)[0-9]*$'
 ORDER BY c.relname COLLATE "C"

-- name: find_size
-- Reads the size of an index.
SELECT pg_relation_size(oid) AS size
  FROM pg_class
 WHERE relnamespace = 'mnestic'::regnamespace AND relname = %(name)s

-- name: try_lock
-- Locks the database for a run, unless another runs.
SELECT pg_try_advisory_lock(%(lock)s) AS locked

-- name: unlock
-- Ends the lock of a run.
SELECT pg_advisory_unlock(%(lock)s) AS unlocked
