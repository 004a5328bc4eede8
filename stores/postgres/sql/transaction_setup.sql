-- name: set_writer
-- Sets role, tenant and zone of a transaction.
SELECT set_config('role', 'mnestic_app', true) AS role, set_config('mnestic.tenant_id', %(tenant_id)s, true) AS tenant,
       set_config('TimeZone', 'UTC', true) AS zone

-- name: set_reader
-- Sets the same of one that reads. What it leaves behind, who read what, is on disk within a second; nobody waits for that.
SELECT set_config('role', 'mnestic_app', true) AS role, set_config('mnestic.tenant_id', %(tenant_id)s, true) AS tenant,
       set_config('TimeZone', 'UTC', true) AS zone, set_config('synchronous_commit', 'off', true) AS waits
