-- Gives some facts the edges that they should have, and takes away those of facts that are gone, deleted or never held. Edges that
-- are right already stay as they are.
WITH touched AS MATERIALIZED (SELECT id FROM unnest(CAST(%(facts)s AS text[])) AS named (id)),
wanted AS MATERIALIZED (
    SELECT f.* FROM touched AS t CROSS JOIN LATERAL (
        -- include edge_of_fact
           AND f.id = t.id OFFSET 0) AS f
),
stored AS MATERIALIZED (
    SELECT e.* FROM touched AS t
     CROSS JOIN LATERAL (
        SELECT -- include edge_columns
          FROM mnestic.graph_edge
         WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND id = t.id OFFSET 0) AS e
),
-- include write_edges
