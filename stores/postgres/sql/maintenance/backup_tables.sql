-- name: list_tables
-- Reads the tables that a backup holds. The schema's revision stands in the manifest. API keys stay as they are: a restore must
-- not bring back one that was revoked. Tenants are registered as their rows are written. Columns that Postgres computes are
-- computed again.
SELECT c.relname AS name,
       (SELECT array_agg(a.attname::text ORDER BY a.attname <> 'tenant_id', a.attname::text COLLATE "C")
          FROM pg_attribute AS a
         WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '') AS columns,
       (SELECT array_agg(a.attname::text ORDER BY k.place) FROM unnest(i.indkey) WITH ORDINALITY AS k (attnum, place)
          JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum = k.attnum) AS key,
       (SELECT array_agg(a.atttypid = 'text'::regtype ORDER BY k.place)
          FROM unnest(i.indkey) WITH ORDINALITY AS k (attnum, place)
          JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum = k.attnum) AS is_text
  FROM pg_class AS c JOIN pg_index AS i ON i.indrelid = c.oid AND i.indisprimary
 WHERE c.relnamespace = 'mnestic'::regnamespace AND c.relkind = 'r'
   AND c.relname NOT IN ('alembic_version', 'api_key', 'tenant')
 ORDER BY c.relname COLLATE "C"

-- name: list_sequences
-- Reads the last number that each sequence gave.
SELECT sequencename AS name, COALESCE(last_value, 0) AS position FROM pg_sequences
 WHERE schemaname = 'mnestic' ORDER BY sequencename COLLATE "C"

-- name: advance_sequence
-- Has a sequence go on after a number, unless it is further already.
SELECT setval(format('mnestic.%I', sequencename)::regclass, CAST(%(position)s AS bigint)) FROM pg_sequences
 WHERE schemaname = 'mnestic' AND sequencename = %(name)s AND COALESCE(last_value, 0) < CAST(%(position)s AS bigint)

-- name: set_texts
-- Sets what the text of a value depends on, and how long a copy may take, for this transaction.
SELECT set_config('TimeZone', 'UTC', true) AS zone, set_config('DateStyle', 'ISO, MDY', true) AS dates,
       set_config('IntervalStyle', 'postgres', true) AS intervals, set_config('extra_float_digits', '1', true) AS floats,
       set_config('bytea_output', 'hex', true) AS bytes, set_config('statement_timeout', '0', true) AS limit_of_statement,
       set_config('idle_in_transaction_session_timeout', '0', true) AS limit_of_idling

-- name: set_tenant
-- Sets the tenant of this transaction.
SELECT set_config('mnestic.tenant_id', %(tenant_id)s, true) AS tenant
