-- name: put
-- Stores a plan under its hash, unless it is there.
INSERT INTO mnestic.plan (tenant_id, decision_id, document, created_at)
VALUES (%(tenant_id)s, %(decision_id)s, %(document)s, now())
ON CONFLICT DO NOTHING

-- name: find
-- Reads a plan by its hash.
SELECT document
  FROM mnestic.plan
 WHERE tenant_id = %(tenant_id)s AND decision_id = %(decision_id)s
