-- Keeps messages as resources and enters them into `ingest_state`; returns those that are new there, each as it is kept.
-- A message that is kept already is passed over, and has the readers that it was kept with. What was said just now has the time of the
-- transaction.
WITH heard AS MATERIALIZED (
    SELECT g.*, mnestic.audience_of_message(%(tenant_id)s, %(agent_id)s, session_id, channel, readers) AS audience
      FROM json_to_recordset(CAST(%(messages)s AS json)) AS g (
           session_id text, source_id text, channel text, speaker text, content text, at timestamptz,
           offset_minutes smallint, kind text, entry_type text, job_id text, workflow_run text, corrects text,
           readers text[], place bigint)
     ORDER BY readers, session_id, channel  -- so that two who add the same sets do not wait for each other
),
kept AS (
    INSERT INTO mnestic.resource
           (tenant_id, agent_id, session_id, source_id, channel, speaker, content, at, offset_minutes, created_at,
            audience)
    SELECT %(tenant_id)s, %(agent_id)s, session_id, source_id, channel, speaker, content, COALESCE(at, now()),
           offset_minutes, now(), audience
      FROM heard ORDER BY place
    ON CONFLICT DO NOTHING
    RETURNING session_id, source_id, channel, speaker, content, at, offset_minutes
),
begun AS (
    INSERT INTO mnestic.ingest_state
           (tenant_id, agent_id, session_id, source_id, state, kind, entry_type, job_id, workflow_run, corrects, updated_at,
            audience)
    SELECT %(tenant_id)s, %(agent_id)s, session_id, source_id, 'received', kind, entry_type, job_id, workflow_run, corrects, now(),
           mnestic.audience_of_entry(%(tenant_id)s, %(agent_id)s, 'message', session_id, source_id)
      FROM heard, (SELECT count(*) FROM kept) AS all_kept  -- so that resources are locked before what waits for them
     ORDER BY place
    ON CONFLICT DO NOTHING
    RETURNING number, session_id, source_id, state, kind, entry_type, job_id, workflow_run, corrects, extractor, extracted, reason,
              updated_at
)
-- What is in `begun` and not in `kept` was kept before, or by others since this statement began: then its content is NULL.
-- It is looked up by another statement: a part that hardly ever runs made the plan that is kept look dear, so that Postgres
-- planned this one anew each time, which took longer than to run it.
SELECT begun.*, kept.channel, kept.speaker, kept.content, kept.at, kept.offset_minutes,
       (SELECT value FROM mnestic.setting
         WHERE tenant_id = %(tenant_id)s AND agent_id = '*' AND name = 'importance_policy') AS importance_policy
  FROM begun LEFT JOIN kept ON kept.session_id = begun.session_id AND kept.source_id = begun.source_id
 ORDER BY number
