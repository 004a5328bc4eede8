-- name: list_columns
-- The columns of a table that a copy writes, in their order.
SELECT column_name FROM information_schema.columns
 WHERE table_schema = 'mnestic' AND table_name = %s AND is_generated = 'NEVER'
   AND column_name NOT IN ('tenant_id', 'agent_id')
 ORDER BY ordinal_position

-- name: copy_rows
-- Each row of a table as many times as copies are wanted, in another tenant; `n` is the number of the copy.
INSERT INTO mnestic.{table} (tenant_id, agent_id, {columns}) OVERRIDING SYSTEM VALUE
SELECT %(to)s, t.agent_id, {selected} FROM mnestic.{table} AS t CROSS JOIN generate_series(CAST(0 AS bigint), %(copies)s - 1) AS n
 WHERE t.tenant_id = %(of)s AND t.agent_id = %(agent)s

-- name: count_corpus
-- How many entries and words the copies have.
INSERT INTO mnestic.corpus (tenant_id, agent_id, entries, lexemes, languages)
SELECT %(to)s, agent_id, entries * %(copies)s, lexemes * %(copies)s, languages FROM mnestic.corpus
 WHERE tenant_id = %(of)s AND agent_id = %(agent)s

-- name: count_vectors
-- How many entries have a vector of each model.
INSERT INTO mnestic.embedding_model (tenant_id, agent_id, model, entries, complete_to)
SELECT tenant_id, agent_id, model, count(*), max(entry_number) FROM mnestic.embedding
 WHERE tenant_id = %(to)s AND agent_id = %(agent)s GROUP BY 1, 2, 3

-- name: copy_revision
-- The revision, which a copy keeps.
INSERT INTO mnestic.agent_revision (tenant_id, agent_id, revision, updated_at, knowledge_revision)
SELECT %(to)s, agent_id, revision, updated_at, knowledge_revision FROM mnestic.agent_revision
 WHERE tenant_id = %(of)s AND agent_id = %(agent)s

-- name: skip_numbers
-- Numbers that are given from now on are larger than those of the copies.
SELECT setval(pg_get_serial_sequence('mnestic.' || name, 'number'), CAST(%(copies)s AS bigint) * 100000000)
  FROM unnest(ARRAY['entry', 'ingest_state']) AS name
