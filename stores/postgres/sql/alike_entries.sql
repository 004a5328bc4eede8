-- Groups of entries that may say the same: active ones with the same names, of which the same is left without spaces, punctuation
-- and words that add nothing. One that others belong to, that a correction names, that a waiting job refers to, that is still to
-- be learned from or that was restored stays by itself.
WITH
-- include waiting_roots
,
alike AS MATERIALIZED (
    SELECT e.id, e.number, e.session_id, e.source_id, md5(concat_ws(E'\x1f', left_over.words, e.entry_type, COALESCE(e.speaker, ''), COALESCE(e.channel, ''),
                                         COALESCE(e.parent, ''), e.subjects, e.tags, e.aliases, e.expires_at)) AS key
      FROM mnestic.entry AS e
     CROSS JOIN LATERAL (
        SELECT regexp_replace(lower(e.content), %(nothing)s, '', 'g') AS words) AS left_over
     WHERE e.tenant_id = %(tenant_id)s AND e.agent_id = %(agent_id)s AND e.kind = 'message' AND e.status = 'active'
       AND e.entry_type <> 'correction' AND e.merged_into IS NULL AND left_over.words <> ''
       AND (e.expires_at IS NULL OR e.expires_at > CAST(%(now)s AS timestamptz))
),
repeated AS MATERIALIZED (SELECT key FROM alike GROUP BY key HAVING count(*) > 1)
SELECT array_agg(a.id ORDER BY a.number) AS ids
  FROM repeated JOIN alike AS a USING (key)
 WHERE NOT EXISTS (SELECT FROM cited AS c WHERE c.id = a.id)
   AND NOT EXISTS (SELECT FROM waits AS w WHERE w.session_id = a.session_id)
   AND NOT EXISTS (SELECT FROM pinned AS p WHERE p.session_id = a.session_id AND p.source_id = a.source_id)
   AND NOT EXISTS (SELECT FROM mnestic.ingest_state AS i
                    WHERE i.tenant_id = %(tenant_id)s AND i.agent_id = %(agent_id)s AND i.session_id = a.session_id
                      AND i.source_id = a.source_id AND i.state IN ('received', 'extracted') OFFSET 0)
   AND NOT EXISTS (SELECT FROM mnestic.entry AS x
                    WHERE x.tenant_id = %(tenant_id)s AND x.agent_id = %(agent_id)s AND x.parent = a.id OFFSET 0)
   AND NOT EXISTS (SELECT FROM mnestic.entry_term AS t
                     JOIN mnestic.entry AS x ON x.tenant_id = %(tenant_id)s AND x.agent_id = %(agent_id)s AND x.number = t.entry_number
                    WHERE t.tenant_id = %(tenant_id)s AND t.agent_id = %(agent_id)s AND t.kind = 'related' AND t.term = a.id
                      AND x.entry_type = 'correction' OFFSET 0)
 GROUP BY key HAVING count(*) > 1
 ORDER BY min(a.number)
