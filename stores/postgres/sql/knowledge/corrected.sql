-- A fragment of other queries: whether an entry names e as replaced, or a correction names it: as the first entry that it is
-- related to, or as the one that it belongs to. If both have claims, facts decide, since a message may also say what is right.
EXISTS (SELECT FROM (SELECT t.entry_number AS number, t.kind <> 'related' AS is_replaced FROM mnestic.entry_term AS t
                      WHERE t.tenant_id = %(tenant_id)s AND t.agent_id = %(agent_id)s AND t.term = e.id
                         AND t.kind IN ('related', 'replaced', 'ended', 'corrected')
                      UNION ALL
                     SELECT p.number, false FROM mnestic.entry AS p
                      WHERE p.tenant_id = %(tenant_id)s AND p.agent_id = %(agent_id)s AND p.parent = e.id) AS naming
         CROSS JOIN LATERAL (
            SELECT entry_type, status, at, session_id, source_id, parent, related FROM mnestic.entry
             WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND number = naming.number OFFSET 0) AS x
         WHERE x.status = 'active'
           AND (CAST(%(as_of)s AS timestamptz) IS NULL OR x.at <= CAST(%(as_of)s AS timestamptz))
           AND (naming.is_replaced
                OR x.entry_type = 'correction' AND e.id IN (x.parent, x.related ->> 0)
                   AND NOT (EXISTS (SELECT FROM mnestic.claim AS c
                                     WHERE c.tenant_id = %(tenant_id)s AND c.agent_id = %(agent_id)s
                                       AND c.session_id = x.session_id AND c.source_id = x.source_id)
                            AND EXISTS (SELECT FROM mnestic.claim AS c
                                         WHERE c.tenant_id = %(tenant_id)s AND c.agent_id = %(agent_id)s
                                           AND c.session_id = e.session_id AND c.source_id = e.source_id))))
