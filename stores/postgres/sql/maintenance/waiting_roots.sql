-- A fragment of other queries: what waiting jobs refer to, which maintenance leaves alone. `waits` are the open waits of the
-- agent's jobs. `cited` are the ids in their snapshots, their contexts, the records that they have read and the working
-- memory of their sessions, of whatever these may be. `pinned` are the messages that facts with such an id follow from.
waits AS MATERIALIZED (
    SELECT job_id, session_id, snapshot_id, concat_ws(' ', context, form, ask) AS shown FROM mnestic.job_wait
     WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND state = 'waiting'
),
cited AS MATERIALIZED (
    SELECT DISTINCT found.id[1] AS id
      FROM (SELECT shown FROM waits
             UNION ALL
            SELECT encode(s.body, 'escape') FROM mnestic.memory_snapshot AS s
             WHERE s.tenant_id = %(tenant_id)s AND s.agent_id = %(agent_id)s AND s.id IN (SELECT snapshot_id FROM waits)
             UNION ALL
            SELECT CAST(m.state AS text) FROM mnestic.working_memory AS m
             WHERE m.tenant_id = %(tenant_id)s AND m.agent_id = %(agent_id)s AND m.session_id IN (SELECT session_id FROM waits)
             UNION ALL
            SELECT CAST(r.value AS text) FROM mnestic.job_read AS r
             WHERE r.tenant_id = %(tenant_id)s AND r.agent_id = %(agent_id)s AND r.job_id IN (SELECT job_id FROM waits)) AS t (text)
     CROSS JOIN LATERAL regexp_matches(t.text, '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}', 'g') AS found (id)
),
pinned AS MATERIALIZED (
    SELECT DISTINCT c.session_id, c.source_id
      FROM cited
     CROSS JOIN LATERAL (
        SELECT claims FROM mnestic.fact
         WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND id = cited.id OFFSET 0) AS f
     CROSS JOIN LATERAL jsonb_array_elements_text(f.claims) AS claimed (id)
     CROSS JOIN LATERAL (
        SELECT session_id, source_id FROM mnestic.claim
         WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND id = claimed.id AND source_id IS NOT NULL OFFSET 0) AS c
)
