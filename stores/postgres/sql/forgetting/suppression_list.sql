-- name: load
-- Reads what is kept out, by its hashes; the index `forgetting_kept_out` serves it.
SELECT id, kept_out, requested_at
  FROM mnestic.forgetting
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND kept_out IS NOT NULL
 ORDER BY id

-- name: list
-- Reads the forgettings that keep something out, oldest first.
SELECT id, actor, requested_at, finished_at, kept_out
  FROM mnestic.forgetting
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND kept_out IS NOT NULL
 ORDER BY requested_at, id

-- name: add
-- Has a forgetting keep its topic out.
UPDATE mnestic.forgetting
   SET kept_out = %(kept_out)s
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND id = %(id)s

-- name: lift
-- Has a forgetting keep nothing out any more.
UPDATE mnestic.forgetting
   SET kept_out = NULL
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND id = %(id)s AND kept_out IS NOT NULL
