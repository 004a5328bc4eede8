-- name: set_search
-- Sets how the statements of a search run. Plans are reused, since planning these statements takes longer than running them. A
-- search with filters is planned anew, so that it uses the index of a session, a channel or a time. If the index of vectors
-- returns removed entries, pgvector 0.8 and later continues the scan; its settings exist only once the extension is loaded,
-- which the cast does.
SELECT set_config('plan_cache_mode', %(plans)s, true) AS plans, set_config('jit', 'off', true) AS jit,
       set_config('hnsw.ef_search', %(ef_search)s, true) AS ef_search,
       CASE WHEN CAST('[0]' AS halfvec) IS NOT NULL AND current_setting('hnsw.iterative_scan', true) IS NOT NULL
            THEN set_config('hnsw.iterative_scan', 'strict_order', true) END AS iterative_scan

-- name: find_vectors
-- Reads how many vectors of the active model there are, and how long they are.
SELECT m.model, m.entries, v.dimensions
  FROM mnestic.corpus AS c
  JOIN mnestic.embedding_model AS m ON m.tenant_id = c.tenant_id AND m.agent_id = c.agent_id AND m.model = c.active_model
 CROSS JOIN LATERAL (SELECT dimensions FROM mnestic.embedding
                      WHERE tenant_id = m.tenant_id AND agent_id = m.agent_id AND model = m.model LIMIT 1) AS v
 WHERE c.tenant_id = %(tenant_id)s AND c.agent_id = %(agent_id)s

-- name: set_nearest
-- Sets how the nearest entries of a few are found.
SELECT set_config('jit', 'off', true) AS jit, set_config('hnsw.ef_search', '20', true) AS ef_search
