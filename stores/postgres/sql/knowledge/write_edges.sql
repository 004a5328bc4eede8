-- A fragment of other queries: writes the edges that are `wanted` and not `stored` like that, and removes those that are not wanted;
-- how many. A full join is one pass over both, whatever the planner expects: after a mass change the statistics are those of before.
-- For the same reason edges are looked for to be removed only if there are some.
compared AS MATERIALIZED (
    SELECT w AS wanted, s.id AS stored_id, ROW(s.source, s.source_key, s.predicate, s.target, s.target_key, s.weight, s.is_active, s.valid_from, s.valid_to, s.audience)
               IS DISTINCT FROM ROW(w.source, w.source_key, w.predicate, w.target, w.target_key, w.weight, w.is_active, w.valid_from, w.valid_to, w.audience) AS differs
      FROM wanted AS w FULL JOIN stored AS s ON s.id = w.id
),
removed AS (
    DELETE FROM mnestic.graph_edge
     WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s
       AND id = ANY(ARRAY(SELECT stored_id FROM compared WHERE (wanted).id IS NULL))
       AND EXISTS (SELECT FROM compared WHERE (wanted).id IS NULL)
    RETURNING 1
),
written AS (
    INSERT INTO mnestic.graph_edge
           (tenant_id, agent_id, id, source, source_key, predicate, target, target_key, weight, is_active, valid_from, valid_to,
            audience)
    SELECT %(tenant_id)s, %(agent_id)s, (wanted).id, (wanted).source, (wanted).source_key, (wanted).predicate, (wanted).target,
           (wanted).target_key, (wanted).weight, (wanted).is_active, (wanted).valid_from, (wanted).valid_to,
           (wanted).audience
      FROM compared WHERE (wanted).id IS NOT NULL AND differs ORDER BY (wanted).id
        ON CONFLICT (tenant_id, agent_id, id)
        DO UPDATE SET source = excluded.source, source_key = excluded.source_key, predicate = excluded.predicate,
                      target = excluded.target, target_key = excluded.target_key, weight = excluded.weight,
                      is_active = excluded.is_active, valid_from = excluded.valid_from, valid_to = excluded.valid_to,
                      audience = excluded.audience
    RETURNING 1
)
SELECT (SELECT count(*) FROM removed) + (SELECT count(*) FROM written) AS changed
