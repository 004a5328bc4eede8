-- Keeps messages as resources and enters them into `learning`; returns those that are new there, each as it is kept.
-- A message that is kept already is passed over. What was said just now has the time of the transaction.
WITH given AS MATERIALIZED (
    SELECT *
      FROM json_to_recordset(CAST(:messages AS json)) AS g (
           session_id text, source_id text, channel text, speaker text, content text, at timestamptz,
           offset_minutes smallint, kind text, entry_type text, job_id text, workflow_run text, corrects text,
           place bigint)
),
kept AS (
    INSERT INTO mnestic.resource
           (tenant_id, agent_id, session_id, source_id, channel, speaker, content, at, offset_minutes, created_at)
    SELECT :tenant_id, :agent_id, session_id, source_id, channel, speaker, content, COALESCE(at, now()),
           offset_minutes, now()
      FROM given ORDER BY place
    ON CONFLICT DO NOTHING
    RETURNING session_id, source_id, channel, speaker, content, at, offset_minutes
),
begun AS (
    INSERT INTO mnestic.learning
           (tenant_id, agent_id, session_id, source_id, state, kind, entry_type, job_id, workflow_run, corrects, updated_at)
    SELECT :tenant_id, :agent_id, session_id, source_id, 'received', kind, entry_type, job_id, workflow_run, corrects, now()
      FROM given, (SELECT count(*) FROM kept) AS all_kept  -- so that resources are locked before what waits for them
     ORDER BY place
    ON CONFLICT DO NOTHING
    RETURNING number, session_id, source_id, state, kind, entry_type, job_id, workflow_run, corrects, extractor, extracted, reason,
              updated_at
)
SELECT begun.*, said.channel, said.speaker, said.content, said.at, said.offset_minutes, said.is_new
  FROM begun LEFT JOIN LATERAL (
       SELECT channel, speaker, content, at, offset_minutes, true AS is_new FROM kept
        WHERE kept.session_id = begun.session_id AND kept.source_id = begun.source_id
        UNION ALL  -- what was kept before; not what others have kept since this statement began, which is NULL
       SELECT channel, speaker, content, at, offset_minutes, false FROM mnestic.resource AS r
        WHERE r.tenant_id = :tenant_id AND r.agent_id = :agent_id
          AND r.session_id = begun.session_id AND r.source_id = begun.source_id
        OFFSET 0
  ) AS said ON true
 ORDER BY number
