-- Gives facts the edges that they should have, and takes away those of facts that are gone, deleted or never held. Of an agent's
-- facts those that are named, or without a list all. Edges that are right already stay as they are. Claims that a fact has ended do
-- not count for its weight.
WITH touched AS MATERIALIZED (
    SELECT id FROM unnest(COALESCE(CAST(%(facts)s AS text[]), ARRAY(
        SELECT id FROM mnestic.fact WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s
         UNION
        SELECT id FROM mnestic.graph_edge WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s))) AS all_of (id)
),
wanted AS MATERIALIZED (
    SELECT f.* FROM touched AS t
     CROSS JOIN LATERAL (
        SELECT id, subject AS source, subject_key AS source_key, predicate, object AS target, object_key AS target_key,
               CAST(round(CAST(COALESCE(decayed_confidence, confidence) * ln(1 + GREATEST(1, (
                    SELECT count(*) FROM mnestic.claim
                     WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND kind IN ('affirmed', 'corrected', 'reactivated')
                       AND id = ANY(ARRAY(SELECT jsonb_array_elements_text(claims)))))) / ln(2) AS numeric), 4) AS float8) AS weight,
               status = 'active' AS is_active, valid_from, valid_to
          FROM mnestic.fact
         WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND id = t.id
           AND status <> 'deleted' AND (valid_to IS NULL OR valid_to > valid_from) OFFSET 0) AS f
),
stored AS MATERIALIZED (
    SELECT e.* FROM touched AS t
     CROSS JOIN LATERAL (
        SELECT id, source, source_key, predicate, target, target_key, weight, is_active, valid_from, valid_to
          FROM mnestic.graph_edge
         WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND id = t.id OFFSET 0) AS e
),
removed AS (
    DELETE FROM mnestic.graph_edge AS e
     WHERE e.tenant_id = %(tenant_id)s AND e.agent_id = %(agent_id)s
       AND e.id = ANY(ARRAY(SELECT id FROM stored EXCEPT SELECT id FROM wanted))
    RETURNING 1
),
written AS (
    INSERT INTO mnestic.graph_edge
           (tenant_id, agent_id, id, source, source_key, predicate, target, target_key, weight, is_active, valid_from, valid_to)
    SELECT %(tenant_id)s, %(agent_id)s, id, source, source_key, predicate, target, target_key, weight, is_active, valid_from, valid_to
      FROM (TABLE wanted EXCEPT TABLE stored) AS differing ORDER BY id
        ON CONFLICT (tenant_id, agent_id, id)
        DO UPDATE SET source = excluded.source, source_key = excluded.source_key, predicate = excluded.predicate,
                      target = excluded.target, target_key = excluded.target_key, weight = excluded.weight,
                      is_active = excluded.is_active, valid_from = excluded.valid_from, valid_to = excluded.valid_to
    RETURNING 1
)
SELECT (SELECT count(*) FROM removed) + (SELECT count(*) FROM written) AS changed
