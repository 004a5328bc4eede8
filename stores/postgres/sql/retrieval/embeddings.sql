-- name: list
-- Reads the models of a page of agents, by name, and how many vectors of each there are.
SELECT c.agent_id, c.active_model, c.previous_model, c.rejected_model, c.switched_at, c.entries,
       COALESCE((SELECT jsonb_object_agg(m.model, m.entries) FROM mnestic.embedding_model AS m
                  WHERE m.tenant_id = c.tenant_id AND m.agent_id = c.agent_id AND m.entries > 0), '{}') AS vectors
  FROM mnestic.corpus AS c
 WHERE c.tenant_id = %(tenant_id)s AND c.agent_id > %(after)s
   AND c.agent_id = %(of_agent)s -- if of_agent
 ORDER BY c.agent_id LIMIT %(limit)s

-- name: list_corpora
-- Reads the corpora of the agent's collections, by name.
SELECT agent_id AS corpus FROM mnestic.corpus
 WHERE tenant_id = %(tenant_id)s AND starts_with(agent_id, %(agent_id)s || '/')
 ORDER BY agent_id

-- name: count_lacking
-- Counts what has no vector of a model.
SELECT (SELECT count(*) FROM mnestic.entry AS e
         WHERE e.tenant_id = %(tenant_id)s AND e.agent_id = %(agent_id)s
           AND NOT EXISTS (SELECT FROM mnestic.embedding AS v
                            WHERE v.tenant_id = %(tenant_id)s AND v.agent_id = %(agent_id)s AND v.model = %(model)s
                              AND v.entry_number = e.number)) AS entries,
       (SELECT count(*) FROM mnestic.archived_entry
         WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND NOT %(model)s = ANY(models)) AS archived

-- name: list_archived
-- Reads archived entries that have no vector of a model.
SELECT id, entry ->> 'content' AS content FROM mnestic.archived_entry
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND NOT %(model)s = ANY(models)
 ORDER BY id LIMIT %(limit)s

-- name: embed_archived
-- Gives archived entries whose text is still the same a vector of a model.
WITH changed AS (
    UPDATE mnestic.archived_entry AS a SET models = a.models || g.model, vectors = a.vectors || g.vector
      FROM (SELECT id, content, CAST(%(model)s AS text) AS model,
                   CAST((CAST(%(vectors)s AS real[]))[(place - 1) * CAST(%(dimensions)s AS integer) + 1
                        : place * CAST(%(dimensions)s AS integer)] AS halfvec) AS vector
              FROM unnest(CAST(%(ids)s AS text[]), CAST(%(contents)s AS text[])) WITH ORDINALITY AS _ (id, content, place)) AS g
     WHERE a.tenant_id = %(tenant_id)s AND a.agent_id = %(agent_id)s AND a.id = g.id
       AND a.entry ->> 'content' = g.content AND NOT g.model = ANY(a.models)
    RETURNING 1
)
SELECT count(*) AS embedded FROM changed

-- name: list_embedded
-- Reads a page of the entries and archived entries that have a vector of a model, by their ids.
SELECT id, content
  FROM ((SELECT id, content FROM mnestic.entry AS e
          WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND id > %(after)s
            AND EXISTS (SELECT FROM mnestic.embedding AS v
                         WHERE v.tenant_id = %(tenant_id)s AND v.agent_id = %(agent_id)s AND v.model = %(model)s
                           AND v.entry_number = e.number OFFSET 0)
          ORDER BY id LIMIT %(limit)s)
        UNION ALL
        (SELECT id, entry ->> 'content' FROM mnestic.archived_entry
          WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND id > %(after)s AND %(model)s = ANY(models)
          ORDER BY id LIMIT %(limit)s)) AS page
 ORDER BY id
 LIMIT %(limit)s

-- name: renew
-- Puts vectors in place of those of a model, of entries and archived entries whose text is still the same.
WITH made AS MATERIALIZED (
    SELECT id, content,
           CAST((CAST(%(vectors)s AS real[]))[(place - 1) * CAST(%(dimensions)s AS integer) + 1
                : place * CAST(%(dimensions)s AS integer)] AS halfvec) AS vector
      FROM unnest(CAST(%(ids)s AS text[]), CAST(%(contents)s AS text[])) WITH ORDINALITY AS _ (id, content, place)
),
live AS (
    UPDATE mnestic.embedding AS v SET vector = made.vector
      FROM made
      JOIN mnestic.entry AS e
        ON e.tenant_id = %(tenant_id)s AND e.agent_id = %(agent_id)s AND e.id = made.id AND e.content = made.content
     WHERE v.tenant_id = %(tenant_id)s AND v.agent_id = %(agent_id)s AND v.model = %(model)s AND v.entry_number = e.number
    RETURNING 1
),
archived AS (
    UPDATE mnestic.archived_entry AS a SET vectors[array_position(a.models, CAST(%(model)s AS text))] = made.vector
      FROM made
     WHERE a.tenant_id = %(tenant_id)s AND a.agent_id = %(agent_id)s AND a.id = made.id
       AND a.entry ->> 'content' = made.content AND %(model)s = ANY(a.models)
    RETURNING 1
)
SELECT (SELECT count(*) FROM live) + (SELECT count(*) FROM archived) AS renewed

-- name: sample
-- Chooses some active entries, as if by chance.
SELECT number, content FROM mnestic.entry
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND status = 'active'
   AND (expires_at IS NULL OR expires_at > now())
 ORDER BY md5(id), id LIMIT %(limit)s

-- name: find_model
-- Reads how many vectors of a model there are, and how long they are.
SELECT m.entries, (SELECT v.dimensions FROM mnestic.embedding AS v
                    WHERE v.tenant_id = m.tenant_id AND v.agent_id = m.agent_id AND v.model = m.model LIMIT 1) AS dimensions
  FROM mnestic.embedding_model AS m
 WHERE m.tenant_id = %(tenant_id)s AND m.agent_id = %(agent_id)s AND m.model = %(model)s

-- name: is_indexed
-- Reads whether there is a valid index of a name.
SELECT EXISTS (SELECT FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid
                WHERE i.indrelid = 'mnestic.embedding'::regclass AND i.indisvalid AND c.relname = %(name)s) AS is_there

-- name: list_nearest
-- Reads the nearest vectors of a model, by the index or by all of them.
SELECT array_agg(n.number ORDER BY n.score DESC, n.number) AS numbers
  FROM mnestic.nearest_vectors(
       %(tenant_id)s, %(agent_id)s, %(model)s, CAST(CAST(%(vectors)s AS real[]) AS halfvec), %(most)s, %(is_indexed)s) AS n

-- name: set_search
-- Sets how far a search of the index looks, for this transaction.
SELECT set_config('hnsw.ef_search', %(ef_search)s, true) AS ef_search

-- name: lock
-- Locks the models of the agent until the end of the transaction.
SELECT active_model, previous_model, rejected_model FROM mnestic.corpus
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s FOR UPDATE

-- name: switch
-- Switches the models of the agent.
UPDATE mnestic.corpus SET active_model = %(active)s, previous_model = %(previous)s, rejected_model = %(rejected)s,
       switched_at = %(now)s
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s

-- name: accept
-- Lets a model be tried again that the agent was switched back from.
UPDATE mnestic.corpus SET rejected_model = NULL WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s

-- name: remove
-- Removes vectors of a model, the entries in their order, and counts them.
WITH removed AS (
    DELETE FROM mnestic.embedding
     WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND model = %(model)s
       AND entry_number IN (SELECT entry_number FROM mnestic.embedding
                             WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND model = %(model)s
                             ORDER BY entry_number LIMIT %(limit)s)
    RETURNING 1
),
counted AS (
    UPDATE mnestic.embedding_model SET entries = entries - (SELECT count(*) FROM removed), complete_to = 0
     WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND model = %(model)s
)
SELECT count(*) AS removed FROM removed

-- name: remove_archived
-- Removes vectors of a model from archived entries, and keeps the order of the others.
WITH changed AS (
    UPDATE mnestic.archived_entry AS a
       SET models = r.models, vectors = r.vectors
      FROM (SELECT b.id, COALESCE(array_agg(v.model ORDER BY v.place) FILTER (WHERE v.model <> %(model)s), '{}') AS models,
                   COALESCE(array_agg(v.vector ORDER BY v.place) FILTER (WHERE v.model <> %(model)s), '{}') AS vectors
              FROM (SELECT id, models, vectors FROM mnestic.archived_entry
                     WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND %(model)s = ANY(models)
                     ORDER BY id LIMIT %(limit)s) AS b
             CROSS JOIN LATERAL unnest(b.models, b.vectors) WITH ORDINALITY AS v (model, vector, place)
             GROUP BY b.id) AS r
     WHERE a.tenant_id = %(tenant_id)s AND a.agent_id = %(agent_id)s AND a.id = r.id
    RETURNING 1
)
SELECT count(*) AS removed FROM changed

-- name: forget_previous
-- Notes that no vector of the earlier model is left.
UPDATE mnestic.corpus SET previous_model = NULL
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND previous_model = %(model)s
