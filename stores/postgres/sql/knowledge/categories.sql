-- name: lock
-- Locks the categories. Rows are made for those that have none, so that a transaction which changes a fact waits for this one in
-- any case.
INSERT INTO mnestic.category AS c (tenant_id, agent_id, name, updated_at)
SELECT %(tenant_id)s, %(agent_id)s, name, now() FROM unnest(CAST(%(names)s AS text[])) AS known (name)
 WHERE EXISTS (SELECT FROM mnestic.fact
                WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND category = known.name AND status = 'active' AND audience = 0
                OFFSET 0)
    OR EXISTS (SELECT FROM mnestic.category
                WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND name = known.name OFFSET 0)
 ORDER BY name
    ON CONFLICT (tenant_id, agent_id, name) DO UPDATE SET summary = c.summary

-- name: clear
-- Clears the summaries of categories: they say nothing of a changed fact any more, and nothing that was forgotten.
INSERT INTO mnestic.category (tenant_id, agent_id, name, updated_at)
SELECT %(tenant_id)s, %(agent_id)s, name, now() FROM unnest(CAST(%(categories)s AS text[])) AS changed (name) ORDER BY name
    ON CONFLICT (tenant_id, agent_id, name) DO UPDATE SET summary = NULL, model = NULL, updated_at = now()

-- name: put
-- Writes summaries that were made of the facts.
UPDATE mnestic.category AS c
   SET summary = written.summary, model = NULL, updated_at = %(at)s
  FROM unnest(CAST(%(names)s AS text[]), CAST(%(summaries)s AS text[])) AS written (name, summary)
 WHERE c.tenant_id = %(tenant_id)s AND c.agent_id = %(agent_id)s AND c.name = written.name

-- name: rewrite
-- Writes the summary that a model has made of another, unless a fact that has changed meanwhile has cleared that one.
UPDATE mnestic.category
   SET summary = %(summary)s, model = %(model)s
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND name = %(name)s AND summary = %(before)s AND model IS NULL

-- name: list_local
-- Reads the agents whose summaries no model has written, the longest waiting first, and how many they are.
SELECT agent_id, count(*) OVER () AS agents
  FROM mnestic.category
 WHERE tenant_id = %(tenant_id)s AND summary <> '' AND model IS NULL AND agent_id <> ALL (CAST(%(without)s AS text[]))
   AND agent_id = %(of_agent)s -- if of_agent
 GROUP BY agent_id
 ORDER BY min(updated_at), agent_id
 LIMIT %(limit)s

-- name: count_local
-- Counts the summaries that a model may write. One that is cleared is written from the facts in the night, before a model is
-- asked.
SELECT count(*) AS summaries
  FROM mnestic.category AS c
 WHERE tenant_id = %(tenant_id)s AND model IS NULL
   AND agent_id = %(of_agent)s -- if of_agent
   AND (summary <> '' OR summary IS NULL AND EXISTS (
        SELECT FROM mnestic.fact AS f
         WHERE f.tenant_id = c.tenant_id AND f.agent_id = c.agent_id AND f.category = c.name AND f.status = 'active' AND f.audience = 0
         OFFSET 0))
