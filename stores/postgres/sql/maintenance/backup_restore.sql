-- name: set_lock_limit
-- Sets how long an attempt to lock may wait: shorter than the second after which Postgres ends one of two that wait for each other.
SET LOCAL lock_timeout = '500ms'

-- name: set_no_limit
-- Lets statements wait for locks again.
SET LOCAL lock_timeout = 0

-- name: count_forgotten
-- Counts the topics that were forgotten since a moment, of a tenant or of all.
SELECT count(*) AS topics FROM mnestic.forgetting
 WHERE requested_at > CAST(%(since)s AS timestamptz)
   AND tenant_id = %(of_tenant)s -- if of_tenant

-- name: send_again
-- Has restored records sent to their backends, which have what was written after the backup.
UPDATE mnestic.long_term_record SET backend_state = 'pending'
 WHERE backend_state = 'stored'
   AND tenant_id = %(of_tenant)s -- if of_tenant
