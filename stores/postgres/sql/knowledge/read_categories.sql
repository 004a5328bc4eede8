-- The categories in which there is or was a fact that everybody may read; others are in no summary. One whose summary was never written, is cleared or is older than the beginning
-- of a fact comes with its latest facts, without those that begin later or have an end. If facts are wanted, each comes with
-- them, and with its summary as it is stored.
SELECT known.name, c.summary, c.model, COALESCE(c.updated_at, f.began) AS updated_at, CAST(COALESCE(f.facts, '[]') AS text) AS facts
  FROM unnest(CAST(%(names)s AS text[])) AS known (name)
  LEFT JOIN LATERAL (
    SELECT CASE WHEN CAST(%(with_facts)s AS boolean) OR NOT EXISTS (
                SELECT FROM mnestic.fact AS b
                 WHERE b.tenant_id = %(tenant_id)s AND b.agent_id = %(agent_id)s AND b.category = known.name AND b.status = 'active' AND b.audience = 0
                   AND b.valid_to IS NULL AND b.valid_from > s.updated_at AND b.valid_from <= CAST(%(now)s AS timestamptz) OFFSET 0)
                THEN s.summary END AS summary, s.model, s.updated_at
      FROM mnestic.category AS s
     WHERE s.tenant_id = %(tenant_id)s AND s.agent_id = %(agent_id)s AND s.name = known.name OFFSET 0) AS c ON true
  LEFT JOIN LATERAL (
    SELECT jsonb_agg(to_jsonb(latest) ORDER BY valid_from DESC, id) AS facts, max(valid_from) AS began
      FROM (SELECT -- include fact_columns
              FROM mnestic.fact
             WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND category = known.name AND status = 'active' AND audience = 0
               AND valid_to IS NULL AND valid_from <= CAST(%(now)s AS timestamptz)
             ORDER BY valid_from DESC, id LIMIT CAST(%(limit)s AS integer)) AS latest) AS f ON c.summary IS NULL OR CAST(%(with_facts)s AS boolean)
 WHERE COALESCE(c.updated_at, f.began) IS NOT NULL
 ORDER BY known.name
