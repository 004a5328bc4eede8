-- Notes of entries what they are merged into, which counts their accesses from now on; they are archived afterwards. What had been
-- merged into them before comes to be merged into these.
WITH merged AS (
    UPDATE mnestic.entry AS e SET merged_into = m.kept
      FROM unnest(CAST(%(merged)s AS text[]), CAST(%(kept)s AS text[])) AS m (id, kept)
     WHERE e.tenant_id = %(tenant_id)s AND e.agent_id = %(agent_id)s AND e.id = m.id
 RETURNING e.id, e.merged_into AS kept, e.access_count, e.last_accessed
), passed_on AS (
    UPDATE mnestic.archived_entry AS a SET entry = jsonb_set(a.entry, '{merged_into}', to_jsonb(m.kept))
      FROM merged AS m
     WHERE a.tenant_id = %(tenant_id)s AND a.agent_id = %(agent_id)s AND a.merged_into = m.id
)
UPDATE mnestic.entry AS e
   SET access_count = e.access_count + m.accesses, last_accessed = GREATEST(e.last_accessed, m.last_accessed)
  FROM (SELECT kept, sum(access_count) AS accesses, max(last_accessed) AS last_accessed FROM merged GROUP BY kept) AS m
 WHERE e.tenant_id = %(tenant_id)s AND e.agent_id = %(agent_id)s AND e.id = m.kept
