-- name: add
-- Adds a key, unless there is one of its id.
INSERT INTO mnestic.api_key (tenant_id, id, sha256, agents, actions, created_at, expires_at, revoked_at)
VALUES (%(tenant_id)s, %(id)s, %(sha256)s, %(agents)s, %(actions)s, %(created_at)s, %(expires_at)s, %(revoked_at)s)
ON CONFLICT DO NOTHING

-- name: find
-- Reads a key by its id.
SELECT id, sha256, agents, actions, created_at, expires_at, revoked_at
  FROM mnestic.api_key
 WHERE tenant_id = %(tenant_id)s AND id = %(id)s

-- name: list
-- Reads a page of the tenant's keys, newest first.
SELECT id, agents, actions, created_at, expires_at, revoked_at
  FROM mnestic.api_key
 WHERE tenant_id = %(tenant_id)s
   AND (created_at, id) < (CAST(%(before)s AS timestamptz), %(before_id)s) -- if before
 ORDER BY created_at DESC, id DESC
 LIMIT %(limit)s

-- name: revoke
-- Revokes a key as of now; the first time stays.
UPDATE mnestic.api_key
   SET revoked_at = coalesce(revoked_at, now())
 WHERE tenant_id = %(tenant_id)s AND id = %(id)s
RETURNING id, agents, actions, created_at, expires_at, revoked_at
