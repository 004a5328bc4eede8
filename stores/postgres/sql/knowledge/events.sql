-- name: list
-- Reads events in their order: those after a number, or of some kinds.
SELECT number, kind, target, ids, subject, predicate, details, at
  FROM mnestic.memory_event
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s
   AND number > %(after)s -- if after
   AND kind = ANY(CAST(%(kinds)s AS text[])) -- if kinds
 ORDER BY number
 LIMIT %(limit)s

-- name: last
-- Reads the number of the last event.
SELECT events
  FROM mnestic.agent_revision
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s

-- name: range
-- Reads the numbers of the last event, and of the first that is there.
SELECT events, (SELECT min(number) FROM mnestic.memory_event
                 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s) AS first
  FROM mnestic.agent_revision
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s

-- name: trim
-- Removes the oldest events. Numbers follow the order of commits, times that of beginnings: nothing younger goes with what is
-- old.
WITH oldest AS MATERIALIZED (
    SELECT number, at FROM mnestic.memory_event
     WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s ORDER BY number LIMIT %(limit)s
)
DELETE FROM mnestic.memory_event
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s
   AND number < COALESCE((SELECT min(number) FROM oldest WHERE at >= CAST(%(before)s AS timestamptz)),
                         (SELECT max(number) + 1 FROM oldest))
