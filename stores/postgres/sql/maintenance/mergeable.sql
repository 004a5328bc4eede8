-- A fragment of other queries: whether the entry a may go to the archive because another entry says the same. Not one that others
-- belong to, that is corrected or replaced, that a waiting job refers to or that is still to be learned from.
NOT EXISTS (SELECT FROM cited AS c WHERE c.id = a.id)
AND NOT EXISTS (SELECT FROM waits AS w WHERE w.session_id = a.session_id)
AND NOT EXISTS (SELECT FROM pinned AS p WHERE p.session_id = a.session_id AND p.source_id = a.source_id)
AND NOT EXISTS (SELECT FROM mnestic.ingest_state AS i
                 WHERE i.tenant_id = %(tenant_id)s AND i.agent_id = %(agent_id)s AND i.session_id = a.session_id
                   AND i.source_id = a.source_id AND i.state IN ('received', 'extracted') OFFSET 0)
AND NOT EXISTS (SELECT FROM mnestic.entry AS x
                 WHERE x.tenant_id = %(tenant_id)s AND x.agent_id = %(agent_id)s AND x.parent = a.id OFFSET 0)
AND NOT EXISTS (SELECT FROM mnestic.entry_term AS t
                  JOIN mnestic.entry AS x ON x.tenant_id = %(tenant_id)s AND x.agent_id = %(agent_id)s AND x.number = t.entry_number
                 WHERE t.tenant_id = %(tenant_id)s AND t.agent_id = %(agent_id)s AND t.kind IN ('related', 'replaced', 'ended', 'corrected')
                   AND t.term = a.id AND (t.kind <> 'related' OR x.entry_type = 'correction') OFFSET 0)
