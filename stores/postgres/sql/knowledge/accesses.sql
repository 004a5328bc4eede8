-- name: count_free
-- Counts accesses of entries that nobody has locked. It waits for no lock, so that it cannot block others. Locked rows are found
-- again by their place in the table, without a second look into an index; a row that was changed in between has another place,
-- and is left for the next time. The ids are in one row: to read a thousand rows would block the process for milliseconds.
WITH free AS MATERIALIZED (
    SELECT e.ctid AS place, access.number
      FROM unnest(CAST(%(ids)s AS text[]), CAST(%(numbers)s AS integer[])) AS access (id, number)
      JOIN mnestic.entry AS e ON e.tenant_id = %(tenant_id)s AND e.agent_id = %(agent_id)s AND e.id = access.id
       FOR NO KEY UPDATE OF e SKIP LOCKED
),
counted AS (
    UPDATE mnestic.entry AS e SET last_accessed = now(), access_count = e.access_count + free.number
      FROM free
     WHERE e.tenant_id = %(tenant_id)s AND e.agent_id = %(agent_id)s AND e.ctid = free.place
    RETURNING e.id
)
SELECT array_agg(id) AS ids FROM counted

-- name: count_all
-- Counts accesses of entries, and waits for those that are locked.
WITH counted AS (
    UPDATE mnestic.entry AS e SET last_accessed = now(), access_count = e.access_count + access.number
      FROM unnest(CAST(%(ids)s AS text[]), CAST(%(numbers)s AS integer[])) AS access (id, number)
     WHERE e.tenant_id = %(tenant_id)s AND e.agent_id = %(agent_id)s AND e.id = access.id
    RETURNING e.id
)
SELECT array_agg(id) AS ids FROM counted

-- name: count_archived
-- Counts accesses of what is archived among entries, so that what is still used is not deleted; returns which of them are not
-- archived, but locked.
WITH free AS MATERIALIZED (
    SELECT e.id, access.number
      FROM unnest(CAST(%(ids)s AS text[]), CAST(%(numbers)s AS integer[])) AS access (id, number)
      JOIN mnestic.archived_entry AS e ON e.tenant_id = %(tenant_id)s AND e.agent_id = %(agent_id)s AND e.id = access.id
       FOR NO KEY UPDATE OF e SKIP LOCKED
),
counted AS (
    UPDATE mnestic.archived_entry AS e
       SET entry = e.entry || jsonb_build_object('last_accessed', now(),
                                                 'access_count', CAST(e.entry ->> 'access_count' AS integer) + free.number)
      FROM free
     WHERE e.tenant_id = %(tenant_id)s AND e.agent_id = %(agent_id)s AND e.id = free.id
)
SELECT id
  FROM mnestic.entry
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND id = ANY(CAST(%(ids)s AS text[]))
