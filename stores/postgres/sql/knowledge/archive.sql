-- name: lock_entries
-- Reads what archiving entries needs of them, and locks these.
SELECT id, kind, number, session_id, source_id, at, entry_type, parent, related, replaces, audience
  FROM mnestic.entry
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND id = ANY(CAST(%(ids)s AS text[]))
 ORDER BY id
   FOR UPDATE

-- name: select
-- Reads archived entries by their ids.
SELECT id, entry
  FROM mnestic.archived_entry
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND id = ANY(CAST(%(ids)s AS text[]))
 ORDER BY id
   FOR UPDATE -- if lock

-- name: select_merged
-- Reads the ids of archived entries that were merged into some.
SELECT id
  FROM mnestic.archived_entry
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND merged_into = ANY(CAST(%(ids)s AS text[]))
 ORDER BY id

-- name: select_marks
-- Reads when and why entries were archived.
SELECT id, archived_at, reason, run
  FROM mnestic.archived_entry
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND id = ANY(CAST(%(ids)s AS text[]))

-- name: list
-- Reads a page of archived entries, the last that were archived first.
SELECT id, archived_at, reason, run, entry
  FROM mnestic.archived_entry
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s
   AND (archived_at, id) < (CAST(%(before)s AS timestamptz), %(before_id)s) -- if before
 ORDER BY archived_at DESC, id DESC
 LIMIT %(limit)s

-- name: list_ids
-- Reads the ids of archived entries that begin with a prefix.
SELECT id
  FROM mnestic.archived_entry
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND starts_with(id, %(prefix)s)
 ORDER BY id
 LIMIT %(limit)s

-- name: count
-- Counts archived entries by why they were archived.
SELECT reason, count(*) AS number
  FROM mnestic.archived_entry
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s
 GROUP BY reason

-- name: change
-- Writes archived entries anew; their vectors are those of other words.
UPDATE mnestic.archived_entry AS t
   SET entry = r.entry, models = '{}', vectors = '{}'
  FROM json_populate_recordset(CAST(NULL AS mnestic.archived_entry), CAST(%(rows)s AS json)) AS r
 WHERE t.tenant_id = %(tenant_id)s AND t.agent_id = %(agent_id)s AND t.id = r.id

-- name: remove
-- Removes archived entries.
DELETE FROM mnestic.archived_entry
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND id = ANY(CAST(%(ids)s AS text[]))
RETURNING session_id, CAST(entry ->> 'at' AS timestamptz) AS at, audience

-- name: list_compressions
-- Reads into which entries archived ones were compressed.
SELECT DISTINCT merged_into
  FROM mnestic.archived_entry
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND id = ANY(CAST(%(ids)s AS text[]))
   AND reason = 'compressed' AND merged_into IS NOT NULL
