-- name: list_tables
-- Reads what the tables of all tenants take, and their indexes; Postgres estimates the rows.
SELECT relname AS name, greatest(reltuples, 0)::bigint AS rows,
       pg_table_size(oid) AS table_bytes, pg_indexes_size(oid) AS index_bytes
  FROM pg_class
 WHERE relnamespace = 'mnestic'::regnamespace AND relkind = 'r'
 ORDER BY pg_total_relation_size(oid) DESC, relname COLLATE "C"

-- name: list_tenants
-- Reads the tenants that have memory.
SELECT tenant_id FROM mnestic.tenant ORDER BY tenant_id COLLATE "C"
