-- Copies entries to the archive: each with its whole row and its vectors. What follows in the indexes is removed afterwards.
INSERT INTO mnestic.archived_entry (tenant_id, agent_id, id, archived_at, reason, run, entry, models, vectors, audience)
SELECT e.tenant_id, e.agent_id, e.id, CAST(%(archived_at)s AS timestamptz), %(reason)s, %(run)s,
       to_jsonb(e) - CAST('{tenant_id,agent_id,number,lexemes,duplicate_key,audience}' AS text[])
           || jsonb_build_object('summary', COALESCE(e.summary, e.content)), v.models, v.vectors, e.audience
  FROM mnestic.entry AS e
 CROSS JOIN LATERAL (
    SELECT COALESCE(array_agg(model ORDER BY model), '{}') AS models,
           COALESCE(array_agg(vector ORDER BY model), '{}') AS vectors
      FROM mnestic.embedding
     WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND entry_number = e.number) AS v
 WHERE e.tenant_id = %(tenant_id)s AND e.agent_id = %(agent_id)s AND e.number = ANY(CAST(%(numbers)s AS bigint[]))
