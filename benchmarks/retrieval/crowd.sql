-- name: list_columns
-- The columns of a table that a copy writes, in their order.
SELECT column_name FROM information_schema.columns
 WHERE table_schema = 'mnestic' AND table_name = %s AND is_generated = 'NEVER'
   AND column_name NOT IN ('tenant_id', 'agent_id')
 ORDER BY ordinal_position

-- name: number_sessions
-- The sessions of the agent, numbered; an agent whose share is n gets every n-th of them.
CREATE TEMPORARY TABLE crowd_session AS
SELECT session_id, dense_rank() OVER (ORDER BY session_id) AS place FROM mnestic.entry
 WHERE tenant_id = %(tenant)s AND agent_id = %(agent)s GROUP BY session_id

-- name: number_entries
-- The entries of the agent, each with the number of its session.
CREATE TEMPORARY TABLE crowd_entry AS
SELECT e.number, s.place FROM mnestic.entry AS e JOIN crowd_session AS s USING (session_id)
 WHERE e.tenant_id = %(tenant)s AND e.agent_id = %(agent)s

-- name: analyze_numbers
-- Statistics of both, by which the copies are planned.
ANALYZE crowd_session, crowd_entry

-- name: copy_rows
-- Each row of a table for each agent that gets its session.
INSERT INTO mnestic.{table} (tenant_id, agent_id, {columns}) OVERRIDING SYSTEM VALUE
SELECT t.tenant_id, a.agent_id, {selected}
  FROM mnestic.{table} AS t {join}
 CROSS JOIN unnest(%(agents)s::text[], %(shares)s::integer[])
       WITH ORDINALITY AS a (agent_id, share, turn)
 WHERE t.tenant_id = %(tenant)s AND t.agent_id = %(agent)s
   AND (c.place IS NULL OR c.place %% a.share = a.turn %% a.share)

-- name: post_words
-- The words of the copies, in lists of 64 as full text search has them.
INSERT INTO mnestic.posting (tenant_id, agent_id, lexeme, audience, first_number, postings)
SELECT tenant_id, agent_id, lexeme, audience, min(posting) >> 28, array_agg(posting ORDER BY posting)
  FROM (SELECT t.tenant_id, a.agent_id, t.lexeme, t.audience, posting,
               (row_number() OVER (PARTITION BY a.agent_id, t.lexeme, t.audience ORDER BY posting) - 1) / 64 AS list
          FROM mnestic.posting AS t CROSS JOIN unnest(t.postings) AS posting JOIN crowd_entry AS c ON c.number = posting >> 28
         CROSS JOIN unnest(%(agents)s::text[], %(shares)s::integer[]) WITH ORDINALITY AS a (agent_id, share, turn)
         WHERE t.tenant_id = %(tenant)s AND t.agent_id = %(agent)s AND c.place %% a.share = a.turn %% a.share) AS copied
 GROUP BY tenant_id, agent_id, lexeme, audience, list

-- name: count_corpus
-- How many entries and words each agent has.
INSERT INTO mnestic.corpus (tenant_id, agent_id, entries, lexemes, languages)
SELECT tenant_id, agent_id, count(*), sum(lexemes), array_agg(DISTINCT language) FROM mnestic.entry
 WHERE tenant_id = %(tenant)s AND agent_id = ANY(%(agents)s) GROUP BY 1, 2

-- name: count_vectors
-- How many entries have a vector of each model.
INSERT INTO mnestic.embedding_model (tenant_id, agent_id, model, entries, complete_to)
SELECT tenant_id, agent_id, model, count(*), max(entry_number) FROM mnestic.embedding
 WHERE tenant_id = %(tenant)s AND agent_id = ANY(%(agents)s) GROUP BY 1, 2, 3

-- name: drop_numbers
-- The numbers are of no use once everything is copied.
DROP TABLE crowd_session, crowd_entry
