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

-- name: count_searches
-- Counts an agent's searches by mode and kind of actor; their targets are such as `hybrid: 3 found` and `text: 0 cached`.
SELECT split_part(target, ':', 1) AS mode, split_part(actor, '/', 1) AS source, count(*) AS searches,
       count(*) FILTER (WHERE target NOT LIKE '%%: 0 %%') AS with_results, count(*) FILTER (WHERE target LIKE '%% cached') AS cached
  FROM mnestic.audit_log
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND action = 'entry.search' AND target LIKE '%%: %%'
   AND at >= now() - interval '30 days'
 GROUP BY 1, 2
 ORDER BY 1, 2
