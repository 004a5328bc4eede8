-- The entries that a cleanup archives, by why, and the archived ones that it deletes; `CleanupPolicy` says in words which.
-- What may be removed is decided once, for entries and archived ones alike.
WITH
-- include waiting_roots
,
known AS MATERIALIZED (
    SELECT e.id, false AS is_archived, e.importance, e.at, GREATEST(e.at, e.last_accessed, e.restored_at) AS used_at,
           e.critical, e.session_id, e.source_id, e.entry_type, e.parent, e.related ->> 0 AS corrects
      FROM mnestic.entry AS e
     WHERE e.tenant_id = %(tenant_id)s AND e.agent_id = %(agent_id)s AND e.kind = 'message'
     UNION ALL
    SELECT a.id, true, e.importance, e.at, GREATEST(e.at, e.last_accessed, a.archived_at),
           e.critical, e.session_id, e.source_id, e.entry_type, e.parent, e.related ->> 0
      FROM mnestic.archived_entry AS a
     CROSS JOIN LATERAL jsonb_populate_record(CAST(NULL AS mnestic.entry), a.entry) AS e
     WHERE a.tenant_id = %(tenant_id)s AND a.agent_id = %(agent_id)s AND a.reason IN ('unimportant', 'over_limit')
),
-- Else what a correction has hidden would be believed again.
needed_corrections AS MATERIALIZED (
    SELECT k.id FROM known AS k JOIN known AS x ON x.id = k.parent
     WHERE k.entry_type = 'correction' AND NOT x.is_archived
     UNION
    SELECT k.id FROM known AS k JOIN known AS x ON x.id = k.corrects
     WHERE k.entry_type = 'correction' AND NOT x.is_archived
),
removable AS MATERIALIZED (
    SELECT k.id, k.is_archived, k.importance, k.at, k.used_at FROM known AS k
     WHERE NOT k.critical
       AND NOT EXISTS (SELECT FROM cited AS c WHERE c.id = k.id)
       AND NOT EXISTS (SELECT FROM waits AS w WHERE w.session_id = k.session_id)
       AND NOT EXISTS (SELECT FROM pinned AS p WHERE p.session_id = k.session_id AND p.source_id = k.source_id)
       AND NOT EXISTS (SELECT FROM mnestic.ingest_state AS i
                        WHERE i.tenant_id = %(tenant_id)s AND i.agent_id = %(agent_id)s AND i.state IN ('received', 'extracted')
                          AND i.session_id = k.session_id AND i.source_id = k.source_id)
       AND NOT EXISTS (SELECT FROM needed_corrections AS n WHERE n.id = k.id)
),
unimportant AS MATERIALIZED (
    SELECT id FROM removable
     WHERE NOT is_archived AND importance < CAST(%(min_importance_threshold)s AS real)
       AND used_at <= CAST(%(now)s AS timestamptz) - CAST(%(archive_old_entries_days)s AS integer) * interval '1 day'
),
over_limit AS (
    SELECT r.id FROM removable AS r
     WHERE NOT r.is_archived AND NOT EXISTS (SELECT FROM unimportant AS u WHERE u.id = r.id)
     ORDER BY r.importance, r.used_at, r.id
     LIMIT GREATEST(0, (SELECT count(*) FROM known WHERE NOT is_archived) - (SELECT count(*) FROM unimportant)
                       - CAST(%(max_entries)s AS bigint))
),
deleted AS (
    SELECT id FROM removable
     WHERE is_archived AND importance < CAST(%(min_importance_threshold)s AS real)
       AND at <= CAST(%(now)s AS timestamptz) - CAST(%(max_age_days)s AS integer) * interval '1 day'
       AND used_at <= CAST(%(now)s AS timestamptz) - CAST(%(delete_unaccessed_days)s AS integer) * interval '1 day'
)
SELECT ARRAY(SELECT id FROM unimportant ORDER BY id) AS unimportant,
       ARRAY(SELECT id FROM over_limit ORDER BY id) AS over_limit,
       ARRAY(SELECT id FROM deleted ORDER BY id) AS deleted
