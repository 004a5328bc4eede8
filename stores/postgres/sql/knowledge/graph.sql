-- name: count
-- Counts the edges, and the facts that should have one.
SELECT (SELECT count(*) FROM mnestic.graph_edge WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s) AS edges,
       (SELECT count(*) FROM mnestic.fact
         WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s
           AND status <> 'deleted' AND (valid_to IS NULL OR valid_to > valid_from)) AS facts
