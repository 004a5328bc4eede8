-- name: count
-- Counts the edges of facts, and the facts that should have one.
SELECT (SELECT count(*) FROM mnestic.graph_edge
         WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND properties IS NULL) AS edges,
       (SELECT count(*) FROM mnestic.fact
         WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s
           AND status <> 'deleted' AND (valid_to IS NULL OR valid_to > valid_from)) AS facts

-- name: nodes
-- Declared nodes of some keys, as they were at a moment, or without one as they are.
SELECT key, id AS name, type, properties
  FROM mnestic.graph_node
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND key = ANY(CAST(%(keys)s AS text[]))
   AND valid_from <= COALESCE(CAST(%(at)s AS timestamptz), now())
   AND (valid_to IS NULL OR valid_to > COALESCE(CAST(%(at)s AS timestamptz), now()))

-- name: put_node
-- Begins a version of a node, which ends the one before it.
WITH ended AS (
    UPDATE mnestic.graph_node SET valid_to = now()
     WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND key = %(key)s AND valid_to IS NULL AND valid_from < now()
)
INSERT INTO mnestic.graph_node (tenant_id, agent_id, key, id, type, properties, valid_from)
VALUES (%(tenant_id)s, %(agent_id)s, %(key)s, %(name)s, %(type)s, CAST(%(properties)s AS jsonb), now())
    ON CONFLICT (tenant_id, agent_id, key, valid_from)
    DO UPDATE SET id = excluded.id, type = excluded.type, properties = excluded.properties, valid_to = NULL

-- name: find_edge
-- The declared edge of a type between two nodes that holds.
SELECT id, source, source_key, predicate, target, target_key, weight, valid_from, valid_to, properties
  FROM mnestic.graph_edge
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND source_key = %(source)s AND target_key = %(target)s
   AND predicate = %(predicate)s AND properties IS NOT NULL AND valid_to IS NULL

-- name: end_edges
-- Ends declared edges: those of a node, or of a type between two nodes.
UPDATE mnestic.graph_edge SET valid_to = now()
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND properties IS NOT NULL AND valid_to IS NULL
   AND (source_key = %(source)s AND target_key = %(target)s AND predicate = CAST(%(predicate)s AS text)
        OR CAST(%(predicate)s AS text) IS NULL AND (source_key = %(source)s OR target_key = %(target)s))

-- name: end_node
-- Ends a node.
UPDATE mnestic.graph_node SET valid_to = now()
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND key = %(key)s AND valid_to IS NULL

-- name: add_edge
-- Adds a declared edge, which no reader sees: it is the agent's own, as its contract is.
INSERT INTO mnestic.graph_edge
       (tenant_id, agent_id, id, source, source_key, predicate, target, target_key, weight, is_active, valid_from, properties, audience)
VALUES (%(tenant_id)s, %(agent_id)s, %(id)s, %(source_name)s, %(source)s, %(predicate)s, %(target_name)s, %(target)s, 1, true, now(),
        CAST(%(properties)s AS jsonb), -1)
RETURNING id, source, source_key, predicate, target, target_key, weight, valid_from, valid_to, properties

-- name: revision
-- How often the graph has changed, and the time.
SELECT now() AS at, COALESCE((SELECT graph_revision FROM mnestic.agent_revision
                               WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s), 0) AS revision

-- name: load
-- All of the graph that holds now: its nodes, and its edges, each with the revision, and with the time at which the first part of it
-- begins or ends by itself. Times are texts, which nobody computes with.
WITH part AS MATERIALIZED (
    SELECT NULL AS id, key AS source_key, id AS source, type, NULL AS target_key, NULL AS target, CAST(NULL AS float8) AS weight,
           valid_from, valid_to, properties
      FROM mnestic.graph_node
     WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND (valid_to IS NULL OR valid_to > now())
     UNION ALL
    SELECT id, source_key, source, predicate, target_key, target, weight, valid_from, valid_to, properties
      FROM mnestic.graph_edge
     WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND is_active AND (valid_to IS NULL OR valid_to > now())
)
SELECT COALESCE((SELECT graph_revision FROM mnestic.agent_revision
                  WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s), 0) AS revision, now() AS at,
       (SELECT min(CASE WHEN valid_from > now() THEN valid_from ELSE valid_to END) FROM part) AS until,
       p.id, p.source_key, p.source, p.type, p.target_key, p.target, p.weight,
       CAST(p.valid_from AS text) AS valid_from, CAST(p.valid_to AS text) AS valid_to, p.properties
  FROM (SELECT 1) AS always LEFT JOIN part AS p ON p.valid_from <= now()
