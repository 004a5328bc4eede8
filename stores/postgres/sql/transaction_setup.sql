-- name: set_writer
-- Sets role, tenant and zone of a transaction.
SELECT set_config('role', 'mnestic_app', true) AS role, set_config('mnestic.tenant_id', %(tenant_id)s, true) AS tenant,
       set_config('TimeZone', 'UTC', true) AS zone

-- name: set_audiences
-- Has a transaction see what everybody may read, and what a reader may.
SELECT set_config('mnestic.is_reader', 'yes', true) AS is_reader,
       set_config('mnestic.audiences', CAST(0 || ARRAY(
           SELECT id FROM mnestic.reader_set
            WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND %(reader)s LIKE ANY (mnestic.reader_patterns(readers))
            ORDER BY id) AS text), true) AS audiences

-- name: set_reader
-- Sets the same of one that reads. What it leaves behind, who read what, is on disk within a second; nobody waits for that.
SELECT set_config('role', 'mnestic_app', true) AS role, set_config('mnestic.tenant_id', %(tenant_id)s, true) AS tenant,
       set_config('TimeZone', 'UTC', true) AS zone, set_config('synchronous_commit', 'off', true) AS waits
