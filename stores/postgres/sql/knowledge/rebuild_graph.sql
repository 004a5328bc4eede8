-- Gives all facts of an agent the edges that they should have, and takes away those of facts that are gone, deleted or never held.
-- Edges that are right already stay as they are.
WITH wanted AS MATERIALIZED (
    -- include edge_of_fact
),
stored AS MATERIALIZED (
    SELECT -- include edge_columns
      FROM mnestic.graph_edge WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND properties IS NULL
),
-- include write_edges
