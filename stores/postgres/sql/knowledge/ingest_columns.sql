-- A fragment of other queries: the columns of the state of a message.
tenant_id, agent_id, session_id, source_id, number, state, kind, entry_type, job_id, workflow_run, corrects, extractor, extracted,
replaces, context, reason
