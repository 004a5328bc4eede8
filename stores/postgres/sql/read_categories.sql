-- The categories in which there is or was a fact. One whose summary was never written or is cleared comes with its latest
-- facts, without those that begin later or have an end; with them comes each if they are wanted.
SELECT known.name, c.summary, c.model, COALESCE(c.updated_at, f.began) AS updated_at, CAST(COALESCE(f.facts, '[]') AS text) AS facts
  FROM unnest(CAST(%(names)s AS text[])) AS known (name)
  LEFT JOIN LATERAL (
    SELECT summary, model, updated_at FROM mnestic.category
     WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND name = known.name OFFSET 0) AS c ON true
  LEFT JOIN LATERAL (
    SELECT jsonb_agg(to_jsonb(latest) ORDER BY valid_from DESC, id) AS facts, max(valid_from) AS began
      FROM (SELECT * FROM mnestic.fact
             WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND category = known.name AND status = 'active'
               AND valid_to IS NULL AND valid_from <= CAST(%(now)s AS timestamptz)
             ORDER BY valid_from DESC, id LIMIT CAST(%(limit)s AS integer)) AS latest) AS f ON c.summary IS NULL OR CAST(%(with_facts)s AS boolean)
 WHERE COALESCE(c.updated_at, f.began) IS NOT NULL
 ORDER BY known.name
