-- A fragment of other queries: whether a correction names the entry e as what it corrects: the first entry that it is
-- related to, or the one that it belongs to. If both have claims, facts decide, since a message may also say what is right.
EXISTS (SELECT FROM (SELECT t.entry_number AS number FROM mnestic.entry_term AS t
                      WHERE t.tenant_id = %(tenant_id)s AND t.agent_id = %(agent_id)s AND t.kind = 'related' AND t.term = e.id
                      UNION ALL
                     SELECT p.number FROM mnestic.entry AS p
                      WHERE p.tenant_id = %(tenant_id)s AND p.agent_id = %(agent_id)s AND p.parent = e.id) AS naming
         CROSS JOIN LATERAL (
            SELECT entry_type, status, at, session_id, source_id, parent, related FROM mnestic.entry
             WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND number = naming.number OFFSET 0) AS x
         WHERE x.entry_type = 'correction' AND x.status = 'active' AND e.id IN (x.parent, x.related ->> 0)
           AND (CAST(%(as_of)s AS timestamptz) IS NULL OR x.at <= CAST(%(as_of)s AS timestamptz))
           AND NOT (EXISTS (SELECT FROM mnestic.claim AS c
                             WHERE c.tenant_id = %(tenant_id)s AND c.agent_id = %(agent_id)s
                               AND c.session_id = x.session_id AND c.source_id = x.source_id)
                    AND EXISTS (SELECT FROM mnestic.claim AS c
                                 WHERE c.tenant_id = %(tenant_id)s AND c.agent_id = %(agent_id)s
                                   AND c.session_id = e.session_id AND c.source_id = e.source_id)))
