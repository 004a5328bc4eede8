-- How many entries a cleanup archives, by why, and how many archived ones it deletes; `CleanupPolicy` says in words which. Of the
-- entries that are too many, `most_needed` is the one that would be archived last.
WITH
-- include removal_roots
,
entries AS MATERIALIZED (
    SELECT k.id, k.importance, GREATEST(k.at, k.created_at, k.last_accessed, k.restored_at) AS used_at
      FROM mnestic.entry AS k
     WHERE k.tenant_id = %(tenant_id)s AND k.agent_id = %(agent_id)s AND k.kind = 'message'
       AND -- include removable
),
needed AS MATERIALIZED (
    SELECT id, importance, used_at FROM entries
     WHERE importance >= CAST(%(min_importance_threshold)s AS real)
        OR used_at > CAST(%(now)s AS timestamptz) - CAST(%(archive_old_entries_days)s AS integer) * interval '1 day'
),
counts AS (
    SELECT (SELECT count(*) FROM entries) - (SELECT count(*) FROM needed) AS unimportant,
           (SELECT count(*) FROM mnestic.entry
             WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND kind = 'message') AS all_of
),
over_limit AS MATERIALIZED (
    SELECT id, importance, used_at FROM needed ORDER BY importance, used_at, id
     LIMIT (SELECT GREATEST(0, all_of - unimportant - CAST(%(max_entries)s AS bigint)) FROM counts)
)
SELECT (SELECT unimportant FROM counts) AS unimportant, (SELECT count(*) FROM over_limit) AS over_limit,
       (SELECT CAST(jsonb_build_object('importance', importance, 'used_at', used_at, 'id', id) AS text)
          FROM over_limit ORDER BY importance DESC, used_at DESC, id DESC LIMIT 1) AS most_needed,
       (SELECT count(*) FROM (-- include deletable
) AS d) AS deleted
