-- Keeps messages as resources and enters them into `ingest_state`; returns those that are new there, each as it is kept.
-- A message that is kept already is passed over. What was said just now has the time of the transaction. Who may read it: its own
-- readers, else those of its session, else those of its channel, else everybody.
WITH given AS MATERIALIZED (
    SELECT g.*, COALESCE(
               g.readers,
               (SELECT readers FROM mnestic.reader_default
                 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND kind = 'session' AND name = g.session_id),
               (SELECT readers FROM mnestic.reader_default
                 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND kind = 'channel' AND name = g.channel)) AS readers_of
      FROM json_to_recordset(CAST(%(messages)s AS json)) AS g (
           session_id text, source_id text, channel text, speaker text, content text, at timestamptz,
           offset_minutes smallint, kind text, entry_type text, job_id text, workflow_run text, corrects text,
           readers text[], place bigint)
),
new_set AS (
    INSERT INTO mnestic.reader_set (tenant_id, agent_id, readers)
    SELECT DISTINCT %(tenant_id)s, %(agent_id)s, readers_of FROM given
     WHERE readers_of IS NOT NULL
       AND NOT EXISTS (SELECT FROM mnestic.reader_set
                        WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND readers = readers_of)
     ORDER BY readers_of
    ON CONFLICT (tenant_id, agent_id, readers) DO UPDATE SET readers = excluded.readers
    RETURNING id, readers
),
heard AS MATERIALIZED (
    SELECT given.*, CASE WHEN readers_of IS NULL THEN mnestic.own_audience()
                         ELSE COALESCE((SELECT id FROM mnestic.reader_set
                                         WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND readers = readers_of),
                                       (SELECT id FROM new_set WHERE readers = readers_of)) END AS audience
      FROM given
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
           audience
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
