-- The importance of entries of an agent at a moment, as `mnestic.memory.knowledge.importance.importance` computes it: of those
-- after a number, up to another.
-- Rows whose importance stays are not written. Each is written where it was read (ctid): a join by keys, of which the planner
-- expects one row where an agent is new, would compare all entries with all.
WITH renewed AS MATERIALIZED (
    SELECT e.ctid AS place, e.importance AS before,
           LEAST(1, GREATEST(0,
               CAST(%(entry_type)s AS float8) * CASE WHEN e.critical THEN CAST(%(critical)s AS float8)
                   ELSE COALESCE(CAST(CAST(%(by_type)s AS jsonb) ->> e.entry_type AS float8), CAST(%(other_type)s AS float8)) END
             + CAST(%(recency)s AS float8) * GREATEST(CAST(%(least_recency)s AS float8),
                   1 - GREATEST(0, floor(extract(epoch FROM CAST(%(now)s AS timestamptz) - e.at) / 86400)) / CAST(%(recent_days)s AS float8))
             + CAST(%(access)s AS float8) * LEAST(1, e.access_count / CAST(%(many_accesses)s AS float8))
             + CAST(%(relations)s AS float8) * LEAST(1,
                   (jsonb_array_length(e.related) + CAST(e.parent IS NOT NULL AS integer) + (
                       SELECT count(*) FROM mnestic.entry AS c
                        WHERE c.tenant_id = %(tenant_id)s AND c.agent_id = %(agent_id)s AND c.parent = e.id AND c.audience = e.audience))
                   / CAST(%(many_relations)s AS float8))
             + CAST(%(richness)s AS float8) * LEAST(1, char_length(e.content) / CAST(%(rich_chars)s AS float8))
           )) AS importance
      FROM mnestic.entry AS e
     WHERE e.tenant_id = %(tenant_id)s AND e.agent_id = %(agent_id)s
       AND e.number > CAST(%(after)s AS bigint) AND e.number <= CAST(%(up_to)s AS bigint)
), changed AS (
    UPDATE mnestic.entry AS e SET importance = r.importance
      FROM renewed AS r
     WHERE e.tenant_id = %(tenant_id)s AND e.agent_id = %(agent_id)s AND e.ctid = r.place
       AND e.number > CAST(%(after)s AS bigint) AND e.number <= CAST(%(up_to)s AS bigint)
       AND r.before IS DISTINCT FROM CAST(r.importance AS real)
 RETURNING 1
)
SELECT count(*) AS changed FROM changed
