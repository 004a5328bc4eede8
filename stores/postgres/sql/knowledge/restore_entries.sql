-- Moves entries from the archive back, each with its whole row and its vectors. Its words and names are indexed afterwards.
WITH taken AS (
    DELETE FROM mnestic.archived_entry
     WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND id = ANY(CAST(%(ids)s AS text[]))
    RETURNING id, entry, models, vectors, audience
),
restored AS (
    INSERT INTO mnestic.entry
           (tenant_id, agent_id, id, kind, entry_type, status, content, summary, session_id, source_id, channel, speaker,
            subjects, keywords, tags, aliases, times, related, parent, importance, critical, access_count, last_accessed,
            language, at, created_at, updated_at, expires_at, features, tokens,
            merged_into, replaces, reinstated_at, restored_at, audience)
    SELECT %(tenant_id)s, %(agent_id)s, e.id, e.kind, e.entry_type, e.status, e.content, NULLIF(e.summary, e.content), e.session_id, e.source_id,
           e.channel, e.speaker, e.subjects, e.keywords, e.tags, e.aliases, e.times, e.related, e.parent, e.importance,
           e.critical, e.access_count, e.last_accessed, e.language, e.at, e.created_at, e.updated_at, e.expires_at, e.features,
           e.tokens, e.merged_into, COALESCE(e.replaces, '[]'), e.reinstated_at, now(), t.audience
      FROM taken AS t CROSS JOIN LATERAL jsonb_populate_record(CAST(NULL AS mnestic.entry), t.entry) AS e
     ORDER BY e.at, e.id
    RETURNING id, number, session_id, source_id, at
),
embedded AS (
    INSERT INTO mnestic.embedding (tenant_id, agent_id, model, entry_number, dimensions, audience, vector)
    SELECT %(tenant_id)s, %(agent_id)s, v.model, r.number, vector_dims(v.vector), t.audience, v.vector
      FROM restored AS r JOIN taken AS t USING (id) CROSS JOIN LATERAL unnest(t.models, t.vectors) AS v (model, vector)
    RETURNING model
),
modelled AS (
    INSERT INTO mnestic.embedding_model AS m (tenant_id, agent_id, model, entries, complete_to)
    SELECT %(tenant_id)s, %(agent_id)s, model, count(*), 0 FROM embedded GROUP BY model ORDER BY model
    ON CONFLICT (tenant_id, agent_id, model) DO UPDATE SET entries = m.entries + excluded.entries
)
SELECT id, number, session_id, source_id, at FROM restored ORDER BY number
