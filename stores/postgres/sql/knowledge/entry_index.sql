-- name: change
-- Writes entries that are there; `rewritten` ones with their contents, which full text search must not have then. Accesses are
-- counted by another store, whatever else is written.
UPDATE mnestic.entry AS t
   SET entry_type = r.entry_type, summary = NULLIF(r.summary, r.content), session_id = r.session_id, source_id = r.source_id, channel = r.channel,
       speaker = r.speaker, subjects = r.subjects, keywords = r.keywords, tags = r.tags, aliases = r.aliases, times = r.times,
       related = r.related, replaces = r.replaces, parent = r.parent, importance = r.importance, critical = r.critical,
       status = r.status, merged_into = r.merged_into, at = r.at, expires_at = r.expires_at, reinstated_at = r.reinstated_at,
       features = r.features,
       content = r.content, language = r.language, tokens = r.tokens, -- if rewritten
       updated_at = now()
  FROM json_populate_recordset(CAST(NULL AS mnestic.entry), CAST(%(rows)s AS json)) AS r
 WHERE t.tenant_id = %(tenant_id)s AND t.agent_id = %(agent_id)s AND t.id = r.id

-- name: add_terms
-- Enters entries under names that they are found by.
INSERT INTO mnestic.entry_term (tenant_id, agent_id, kind, term, entry_number, audience)
SELECT %(tenant_id)s, %(agent_id)s, r.kind, r.term, r.entry_number, e.audience
  FROM json_populate_recordset(CAST(NULL AS mnestic.entry_term), CAST(%(rows)s AS json)) AS r
 CROSS JOIN LATERAL (
    SELECT audience FROM mnestic.entry
     WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND number = r.entry_number OFFSET 0) AS e

-- name: remove_terms
-- Removes entries from under their names.
DELETE FROM mnestic.entry_term
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND entry_number = ANY(CAST(%(numbers)s AS bigint[]))

-- name: remove
-- Removes the rows of entries.
DELETE FROM mnestic.entry
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND number = ANY(CAST(%(numbers)s AS bigint[]))
