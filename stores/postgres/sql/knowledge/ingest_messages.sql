-- A fragment of other queries: the states in `step` with their messages and the subjects of their entries, in their order. Each
-- is looked up by its whole key (`OFFSET 0`): else Postgres may join all messages of the agent instead.
SELECT step.number, step.state, step.kind, step.entry_type, step.job_id, step.workflow_run, step.corrects, step.extractor,
       step.extracted, step.replaces, step.context, step.reason,
       r.session_id, r.source_id, r.channel, r.speaker, r.content, r.at, r.offset_minutes, r.readers, e.subjects
  FROM step
 CROSS JOIN LATERAL (
    SELECT session_id, source_id, channel, speaker, content, at, offset_minutes, -- include readers_of
      FROM mnestic.resource
     WHERE tenant_id = step.tenant_id AND agent_id = step.agent_id AND session_id = step.session_id
       AND source_id = step.source_id OFFSET 0) AS r
  LEFT JOIN LATERAL (
    SELECT subjects
      FROM mnestic.entry
     WHERE tenant_id = step.tenant_id AND agent_id = step.agent_id AND session_id = r.session_id
       AND source_id = r.source_id AND at = r.at AND kind = 'message' OFFSET 0) AS e ON true
 ORDER BY step.number
