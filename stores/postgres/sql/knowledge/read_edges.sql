-- The edges that end in one of some nodes, or all, the heaviest first: those that were valid at a moment, or without one those of
-- active facts that hold now.
SELECT id, source, source_key, predicate, target, target_key, weight, valid_from, valid_to, properties FROM (
    SELECT -- include edge_columns
      FROM mnestic.graph_edge
     WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND CAST(%(keys)s AS text[]) IS NULL
     UNION ALL
    SELECT -- include edge_columns
      FROM mnestic.graph_edge
     WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND source_key = ANY(CAST(%(keys)s AS text[]))
       AND CAST(%(direction)s AS text) <> 'in'
     UNION ALL
    SELECT -- include edge_columns
      FROM mnestic.graph_edge
     WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND target_key = ANY(CAST(%(keys)s AS text[]))
       AND (source_key <> ALL(CAST(%(keys)s AS text[])) OR CAST(%(direction)s AS text) = 'in')
       AND CAST(%(direction)s AS text) <> 'out') AS e
 WHERE valid_from <= COALESCE(CAST(%(at)s AS timestamptz), now())
   AND (valid_to IS NULL OR valid_to > COALESCE(CAST(%(at)s AS timestamptz), now()))
   AND predicate = %(predicate)s -- if predicate
   AND (is_active OR CAST(%(at)s AS timestamptz) IS NOT NULL)
 ORDER BY weight DESC, id LIMIT CAST(%(limit)s AS integer)
