-- name: read
-- Reads all settings of the agent.
SELECT name, value
  FROM mnestic.setting
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s

-- name: lock
-- Locks the settings of the agent until the end of the transaction.
SELECT pg_advisory_xact_lock(hashtextextended(%(lock)s, 0)) AS locked

-- name: put
-- Sets one.
INSERT INTO mnestic.setting (tenant_id, agent_id, name, value, updated_at)
VALUES (%(tenant_id)s, %(agent_id)s, %(name)s, %(value)s, now())
ON CONFLICT (tenant_id, agent_id, name) DO UPDATE SET value = excluded.value, updated_at = now()

-- name: reset
-- Removes one, so that its default holds again.
DELETE FROM mnestic.setting
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND name = %(name)s

-- name: importance_basis
-- Reads what importance is computed from: the time, and a setting of the whole tenant.
SELECT now() AS now,
       (SELECT value FROM mnestic.setting
         WHERE tenant_id = %(tenant_id)s AND agent_id = %(every_agent)s AND name = %(name)s) AS policy

-- name: list_languages
-- Reads the languages that full text search knows.
SELECT cfgname AS name
  FROM pg_ts_config
 WHERE pg_ts_config_is_visible(oid)
 ORDER BY cfgname

-- name: language
-- Reads the language of the agent.
SELECT value #>> '{}' AS name
  FROM mnestic.setting
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND name = 'language'
