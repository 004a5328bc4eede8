-- Whether the indexes find a sample of a tenant's entries: of ten agents by chance, the last five entries each. An entry is found
-- if full text search has each of its words, and if its own vector finds it, or entries that are as near.
WITH agent AS MATERIALIZED (
    SELECT c.agent_id, c.active_model, COALESCE(m.entries, 0) >= CAST(%(indexed_from)s AS bigint) AS is_indexed
      FROM mnestic.corpus AS c
      LEFT JOIN mnestic.embedding_model AS m
        ON m.tenant_id = c.tenant_id AND m.agent_id = c.agent_id AND m.model = c.active_model
     WHERE c.tenant_id = %(tenant_id)s AND c.entries > 0
     ORDER BY random() LIMIT 10
), sample AS MATERIALIZED (
    SELECT agent.*, e.number, e.audience, e.language, e.content, v.vector
      FROM agent
     CROSS JOIN LATERAL (
           SELECT number, audience, language, content FROM mnestic.entry
            WHERE tenant_id = %(tenant_id)s AND agent_id = agent.agent_id ORDER BY number DESC LIMIT 5) AS e
      LEFT JOIN mnestic.embedding AS v
        ON v.tenant_id = %(tenant_id)s AND v.agent_id = agent.agent_id AND v.model = agent.active_model
       AND v.entry_number = e.number
)
SELECT count(*) AS entries,
       count(*) FILTER (WHERE
           -- include lacks_words
       ) AS without_words,
       count(*) FILTER (WHERE vector IS NULL) AS without_vector,
       count(*) FILTER (WHERE l2_norm(vector) > 0 AND NOT EXISTS (
           SELECT FROM mnestic.nearest_vectors(
               %(tenant_id)s, e.agent_id, e.active_model, vector, 20, e.is_indexed) AS near
            WHERE near.number = e.number OR near.score >= - (vector <#> vector) - 0.001)) AS not_nearest
  FROM sample AS e
