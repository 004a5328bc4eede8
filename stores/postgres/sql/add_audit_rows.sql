-- What a transaction read and wrote, as rows of the audit log.
INSERT INTO mnestic.audit_log (tenant_id, agent_id, actor, action, target, operation_key, reason, at)
SELECT %(tenant_id)s, %(agent_id)s, r.actor, r.action, r.target, r.operation_key, r.reason, now()
  FROM json_populate_recordset(CAST(NULL AS mnestic.audit_log), CAST(%(rows)s AS json)) AS r
