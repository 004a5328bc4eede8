-- name: select
-- Reads entries by their ids.
SELECT -- include entry_columns
  FROM mnestic.entry
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND id = ANY(CAST(%(ids)s AS text[]))
 ORDER BY id
   FOR UPDATE -- if lock

-- name: list_ids
-- Reads the ids of entries that begin with a prefix.
SELECT id
  FROM mnestic.entry
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND starts_with(id, %(prefix)s)
 ORDER BY id
 LIMIT %(limit)s

-- name: find_supersession
-- Reads since when what an entry says is so no longer, and why.
SELECT at, by, why
  FROM mnestic.supersession
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND entry_id = %(id)s

-- name: count_children
-- Counts the entries that belong to some, and have the same readers.
SELECT c.parent, count(*) AS number
  FROM mnestic.entry AS c
  JOIN mnestic.entry AS p ON p.tenant_id = %(tenant_id)s AND p.agent_id = %(agent_id)s AND p.id = c.parent AND p.audience = c.audience
 WHERE c.tenant_id = %(tenant_id)s AND c.agent_id = %(agent_id)s AND c.parent = ANY(CAST(%(ids)s AS text[]))
 GROUP BY c.parent

-- name: select_times
-- Reads the times of entries.
SELECT id, at
  FROM mnestic.entry
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND id = ANY(CAST(%(ids)s AS text[]))

-- name: list
-- Reads a page of entries, newest first. Whom a name means is found by their own name as well, and by each that they are called.
WITH whose AS (
    SELECT CAST(%(subject)s AS text) AS key
     UNION
    SELECT subject_key FROM mnestic.fact
     WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND object_key = CAST(%(subject)s AS text)
       AND -- include is_name
),
called AS (
    SELECT key FROM whose
     UNION
    SELECT object_key FROM mnestic.fact
     WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND subject_key IN (SELECT key FROM whose)
       AND -- include is_name
),
about AS (
    SELECT entry_number AS number FROM mnestic.entry_term
     WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND kind IN ('subject', 'alias') AND term = CAST(%(subject)s AS text)
     UNION
    SELECT entry_number FROM mnestic.entry_term
     WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND kind = 'subject' AND term IN (SELECT key FROM called)
)
SELECT -- include entry_columns
  FROM mnestic.entry
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND status = ANY(CAST(%(statuses)s AS text[]))
   AND kind = ANY(CAST(%(kinds)s AS text[])) -- if kinds
   AND entry_type = ANY(CAST(%(types)s AS text[])) -- if types
   AND session_id = %(session_id)s -- if session_id
   AND channel = %(channel)s -- if channel
   AND lower(speaker) = lower(%(speaker)s) -- if speaker
   AND parent = %(parent)s -- if parent
   AND at >= %(since)s -- if since
   AND at < %(until)s -- if until
   AND importance >= CAST(%(min_importance)s AS real) -- if min_importance
   AND importance < CAST(%(max_importance)s AS real) -- if max_importance
   AND (expires_at IS NULL OR expires_at > now()) -- if unexpired
   AND number IN (SELECT number FROM about) -- if subject
   AND number IN (SELECT entry_number FROM mnestic.entry_term WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s -- if tags
                     AND kind = 'tag' AND term = ANY(CAST(%(tags)s AS text[]))) -- if tags
   AND number IN (SELECT entry_number FROM mnestic.entry_term WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s -- if related
                     AND kind = 'related' AND term = %(related)s) -- if related
   AND (at, id) < (CAST(%(before)s AS timestamptz), %(before_id)s) -- if before
 ORDER BY at DESC, id DESC
 LIMIT %(limit)s

-- name: list_naming
-- Reads the ids of entries that belong or are related to some.
SELECT id
  FROM mnestic.entry
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s
   AND (parent = ANY(CAST(%(ids)s AS text[]))
        OR number IN (SELECT entry_number FROM mnestic.entry_term
                       WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND kind = 'related'
                         AND term = ANY(CAST(%(ids)s AS text[]))))
 ORDER BY id

-- name: list_bearers
-- Reads the subjects whose first word is a name, and whether somebody of just that name has spoken.
WITH subject AS MATERIALIZED (
    SELECT DISTINCT term FROM mnestic.entry_term
     WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND kind = 'subject' AND term LIKE '% %'
)
SELECT n.name,
       (SELECT array_agg(s.term) FROM subject AS s WHERE left(s.term, length(n.name) + 1) = n.name || ' ') AS subjects,
       -- No EXISTS: without statistics it is planned as one join of all subjects with all entries.
       (SELECT true FROM mnestic.entry_term AS t
         CROSS JOIN LATERAL (
            SELECT e.kind, e.speaker FROM mnestic.entry AS e
             WHERE e.tenant_id = %(tenant_id)s AND e.agent_id = %(agent_id)s AND e.number = t.entry_number OFFSET 0) AS e
         WHERE t.tenant_id = %(tenant_id)s AND t.agent_id = %(agent_id)s AND t.kind = 'subject' AND t.term = n.name
           AND e.kind = 'message' AND lower(e.speaker) = n.name
         LIMIT 1) IS NOT NULL AS speaks
  FROM unnest(CAST(%(names)s AS text[])) AS n (name)

-- name: measure
-- Reads about how many bytes the rows of an agent take.
SELECT name, bytes FROM mnestic.row_bytes(%(tenant_id)s, %(agent_id)s)

-- name: lock_contents
-- Reads the contents of entries, and locks these.
SELECT id, number, content
  FROM mnestic.entry
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND id = ANY(CAST(%(ids)s AS text[]))
 ORDER BY id
   FOR UPDATE
