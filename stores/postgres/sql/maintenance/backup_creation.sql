-- name: find_moment
-- Reads of which moment, schema and version of Postgres a backup is.
SELECT now() AS now, (SELECT version_num FROM mnestic.alembic_version) AS revision,
       current_setting('server_version') AS postgres

-- name: list_tenants
-- Reads the tenants that have memory, or one of them if it has.
SELECT DISTINCT tenant_id FROM mnestic.agent_revision
 WHERE tenant_id = %(of_tenant)s -- if of_tenant
