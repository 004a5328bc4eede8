-- A fragment of other queries: whether k, an entry or an archived one, alone states a fact that nothing has superseded. So no live
-- entry states it later, or at all if k is archived. What has faded is not superseded.
-- The latest claims come first: a fact that is stated every day has a later one.
EXISTS (SELECT FROM (SELECT id, subject_key, predicate FROM mnestic.claim
                      WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND session_id = k.session_id
                        AND source_id = k.source_id AND kind IN ('affirmed', 'corrected') OFFSET 0) AS c
         CROSS JOIN LATERAL (
            SELECT claims FROM mnestic.fact
             WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND subject_key = c.subject_key
               AND predicate = c.predicate AND claims ? c.id
               AND (status = 'active' OR "end" = 'faded') OFFSET 0) AS f
         WHERE NOT EXISTS (
            SELECT FROM (SELECT id FROM jsonb_array_elements_text(f.claims) WITH ORDINALITY AS one (id, place)
                          ORDER BY place DESC OFFSET 0) AS claimed
             CROSS JOIN LATERAL (
                SELECT session_id, source_id, said_at FROM mnestic.claim
                 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND id = claimed.id
                   AND kind IN ('affirmed', 'corrected') AND source_id IS NOT NULL OFFSET 0) AS s
             CROSS JOIN LATERAL (
                SELECT at, id FROM mnestic.entry
                 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND session_id = s.session_id
                   AND at = s.said_at AND source_id = s.source_id AND kind = 'message' OFFSET 0) AS x
             WHERE k.number IS NULL OR (x.at, x.id) > (k.at, k.id)))
