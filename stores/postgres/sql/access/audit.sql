-- name: list
-- Reads a page of the audit log, newest first.
SELECT id, agent_id, at, actor, action, target, operation_key, reason
  FROM mnestic.audit_log
 WHERE tenant_id = %(tenant_id)s
   AND agent_id = %(of_agent)s -- if of_agent
   AND starts_with(actor, 'key/') AND actor = %(of_key)s -- if of_key
   AND actor = %(of_actor)s -- if of_actor
   AND starts_with(action, %(of_action)s) -- if of_action
   AND action = 'access.denied' -- if only_denied
   AND id < CAST(%(before)s AS bigint) -- if before
 ORDER BY id DESC
 LIMIT %(limit)s

-- name: list_changes
-- Reads who changed an entry, newest first; learning is no change.
SELECT id, agent_id, at, actor, action, target, operation_key, reason
  FROM mnestic.audit_log
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(of_agent)s AND target = %(entry_id)s
   AND action IN ('entry.change', 'entry.remove', 'entry.archive', 'entry.restore') AND actor <> 'learning'
 ORDER BY id DESC
 LIMIT %(limit)s
