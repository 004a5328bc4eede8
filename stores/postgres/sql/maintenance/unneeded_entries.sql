-- The entries that a cleanup archives next, by number: those that are unimportant, and of the others those up to `most_needed`.
WITH
-- include removal_roots
SELECT k.id, k.number, k.is_unimportant
  FROM (SELECT e.id, e.number, e.critical, e.session_id, e.source_id, e.at, e.content, e.entry_type, e.replaces, e.parent, e.related,
               e.importance < CAST(%(min_importance_threshold)s AS real)
               AND m.used_at <= CAST(%(now)s AS timestamptz) - CAST(%(archive_old_entries_days)s AS integer) * interval '1 day' AS is_unimportant,
               (e.importance, m.used_at, e.id)
               <= (CAST(m.most_needed ->> 'importance' AS real), CAST(m.most_needed ->> 'used_at' AS timestamptz), m.most_needed ->> 'id') AS is_over_limit
          FROM mnestic.entry AS e
         CROSS JOIN LATERAL (
            SELECT GREATEST(e.at, e.created_at, e.last_accessed, e.restored_at) AS used_at, CAST(%(most_needed)s AS jsonb) AS most_needed) AS m
         WHERE e.tenant_id = %(tenant_id)s AND e.agent_id = %(agent_id)s AND e.kind = 'message'
           AND e.number > CAST(%(after)s AS bigint)) AS k
 WHERE (k.is_unimportant OR k.is_over_limit)
   AND -- include removable
 ORDER BY k.number LIMIT CAST(%(limit)s AS integer)
