-- name: list
-- Reads the subjects whom a name may mean: because it is theirs, another name of theirs, or the first word of one. An alias of an
-- entry is another name of the one that it is about.
SELECT 'is' AS by, subject_key AS key, max(subject) AS subject
  FROM mnestic.fact
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND subject_key = %(key)s
 GROUP BY subject_key
 UNION ALL
SELECT 'alias', subject_key, max(subject)
  FROM mnestic.fact
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND object_key = %(key)s
   AND -- include is_name
 GROUP BY subject_key
 UNION ALL
SELECT 'alias', NULL, e.subjects ->> 0
  FROM mnestic.entry_term AS t
  JOIN mnestic.entry AS e ON e.tenant_id = t.tenant_id AND e.agent_id = t.agent_id AND e.number = t.entry_number
 WHERE t.tenant_id = %(tenant_id)s AND t.agent_id = %(agent_id)s AND t.kind = 'alias' AND t.term = %(key)s
   AND e.status = 'active' AND jsonb_array_length(e.subjects) = 1
 GROUP BY e.subjects ->> 0
 UNION ALL
SELECT 'first', subject_key, max(subject)
  FROM mnestic.fact
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s
   AND left(subject_key, length(%(key)s) + 1) = %(key)s || ' '
 GROUP BY subject_key
 UNION ALL
SELECT 'first', subject_key, max(subject)
  FROM mnestic.fact
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND left(object_key, length(%(key)s) + 1) = %(key)s || ' '
   AND -- include is_name
 GROUP BY subject_key

-- name: list_aliases
-- Reads the names of somebody that are nobody else's.
SELECT DISTINCT object_key
  FROM mnestic.fact AS f
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND subject_key = ANY(CAST(%(keys)s AS text[]))
   AND NOT EXISTS (
       SELECT FROM mnestic.fact AS other
        WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND object_key = f.object_key
          AND subject_key <> ALL(CAST(%(keys)s AS text[]))
          AND -- include is_name
       )
   AND -- include is_name
 ORDER BY object_key
