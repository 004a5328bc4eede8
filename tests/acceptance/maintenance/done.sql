-- What was done, in which order; when it was is a clock's.
SELECT 'operation', agent_id, key || result::text FROM mnestic.operation WHERE tenant_id = %(tenant)s
UNION ALL
SELECT 'event', agent_id, concat_ws(' ', number, kind, ids, subject, predicate) FROM mnestic.memory_event WHERE tenant_id = %(tenant)s
UNION ALL
SELECT 'revision', agent_id, concat_ws(' ', revision, knowledge_revision, events) FROM mnestic.agent_revision WHERE tenant_id = %(tenant)s
UNION ALL
SELECT 'audit', agent_id, concat_ws(' ', actor, action, target, operation_key) FROM mnestic.audit_log
 WHERE tenant_id = %(tenant)s AND actor LIKE 'maintenance/%%' AND action NOT IN ('operation.replay', 'setting.read')
