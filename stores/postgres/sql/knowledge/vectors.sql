-- name: active_model
-- Reads the model whose vectors searches compare.
SELECT active_model
  FROM mnestic.corpus
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s

-- name: count_missing
-- Counts the entries that have no vector of a model, and reads up to which number none lacks one, as far as is known.
SELECT c.entries - COALESCE(m.entries, 0) AS missing, COALESCE(m.complete_to, 0) AS complete_to
  FROM mnestic.corpus AS c
  LEFT JOIN mnestic.embedding_model AS m
    ON m.tenant_id = c.tenant_id AND m.agent_id = c.agent_id AND m.model = %(model)s
 WHERE c.tenant_id = %(tenant_id)s AND c.agent_id = %(agent_id)s

-- name: list_missing
-- Reads the oldest entries above a number that have no vector of a model. Each vector is looked up (`OFFSET 0`): else all
-- vectors of the agent may be joined.
SELECT e.id, e.content, e.session_id, e.source_id
  FROM mnestic.entry AS e
 WHERE e.tenant_id = %(tenant_id)s AND e.agent_id = %(agent_id)s AND e.number > %(after)s
   AND NOT EXISTS (SELECT FROM mnestic.embedding AS v
                    WHERE v.tenant_id = %(tenant_id)s AND v.agent_id = %(agent_id)s AND v.model = %(model)s
                      AND v.entry_number = e.number OFFSET 0)
 ORDER BY e.number
 LIMIT %(limit)s

-- name: list_zero
-- Reads the oldest entries whose vector of a model is 0; all vectors of the agent are looked at.
SELECT e.id, e.content, e.session_id, e.source_id
  FROM mnestic.embedding AS v
  JOIN mnestic.entry AS e ON e.tenant_id = %(tenant_id)s AND e.agent_id = %(agent_id)s AND e.number = v.entry_number
 WHERE v.tenant_id = %(tenant_id)s AND v.agent_id = %(agent_id)s AND v.model = %(model)s AND l2_norm(v.vector) = 0
 ORDER BY e.number
 LIMIT %(limit)s

-- name: keep
-- Stores vectors of a model, but where there is one. The first model of an agent is its active one. The row of `corpus` is
-- locked before that of `embedding_model`, since `stored` waits for `pinned`.
WITH pinned AS (
    UPDATE mnestic.corpus SET active_model = %(model)s
     WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND active_model IS NULL
    RETURNING 1
),
stored AS (
    INSERT INTO mnestic.embedding (tenant_id, agent_id, model, entry_number, dimensions, audience, vector)
    SELECT %(tenant_id)s, %(agent_id)s, %(model)s, number, CAST(%(dimensions)s AS integer), e.audience,
           CAST((CAST(%(vectors)s AS real[]))[(place - 1) * CAST(%(dimensions)s AS integer) + 1 : place * CAST(%(dimensions)s AS integer)] AS halfvec)
      FROM unnest(CAST(%(numbers)s AS bigint[])) WITH ORDINALITY AS n (number, place)
     CROSS JOIN LATERAL (
        SELECT audience FROM mnestic.entry
         WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND entry.number = n.number OFFSET 0) AS e
     WHERE (SELECT count(*) FROM pinned) >= 0
    ON CONFLICT DO NOTHING
    RETURNING 1
)
INSERT INTO mnestic.embedding_model AS m (tenant_id, agent_id, model, entries, complete_to)
SELECT %(tenant_id)s, %(agent_id)s, %(model)s, count(*), CAST(%(complete_to)s AS bigint) FROM stored
ON CONFLICT (tenant_id, agent_id, model)
DO UPDATE SET entries = m.entries + excluded.entries,
              complete_to = greatest(m.complete_to, excluded.complete_to)
RETURNING (SELECT count(*) FROM stored) AS stored

-- name: forget
-- Removes the vectors of entries, whatever the model, or those that are 0.
WITH gone AS (
    DELETE FROM mnestic.embedding
     WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND entry_number = ANY(CAST(%(numbers)s AS bigint[]))
       AND l2_norm(vector) = 0 -- if empty
    RETURNING model
)
UPDATE mnestic.embedding_model AS m SET entries = m.entries - g.entries
  FROM (SELECT model, count(*) AS entries FROM gone GROUP BY model) AS g
 WHERE m.tenant_id = %(tenant_id)s AND m.agent_id = %(agent_id)s AND m.model = g.model
