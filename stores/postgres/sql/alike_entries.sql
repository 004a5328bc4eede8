-- Groups of entries that may say the same: active ones with the same names, of which the same is left without spaces, punctuation
-- and words that add nothing. One that others belong to, that a correction names, that a waiting job refers to, that is still to
-- be learned from or that was restored stays by itself.
-- The words of each entry are read once (`OFFSET 0`), and only entries with the same key are looked up again.
WITH
-- include waiting_roots
,
alike AS MATERIALIZED (
    SELECT e.number, hashtextextended(concat_ws(E'\x1f', left_over.words, e.entry_type, COALESCE(e.speaker, ''), COALESCE(e.channel, ''),
                                                COALESCE(e.parent, ''), e.subjects, e.tags, e.aliases, e.expires_at), 0) AS key
      FROM mnestic.entry AS e
     CROSS JOIN LATERAL (
        SELECT regexp_replace(lower(e.content), %(nothing)s, '', 'g') AS words OFFSET 0) AS left_over
     WHERE e.tenant_id = %(tenant_id)s AND e.agent_id = %(agent_id)s AND e.kind = 'message' AND e.status = 'active'
       AND e.entry_type <> 'correction' AND e.merged_into IS NULL AND left_over.words <> ''
       AND (e.expires_at IS NULL OR e.expires_at > CAST(%(now)s AS timestamptz))
),
repeated AS MATERIALIZED (SELECT key, array_agg(number) AS numbers FROM alike GROUP BY key HAVING count(*) > 1),
found AS MATERIALIZED (
    SELECT r.key, e.id, e.number, e.session_id, e.source_id
      FROM repeated AS r
     CROSS JOIN LATERAL unnest(r.numbers) AS one (number)
     CROSS JOIN LATERAL (
        SELECT id, number, session_id, source_id FROM mnestic.entry
         WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND number = one.number OFFSET 0) AS e
)
SELECT array_agg(a.id ORDER BY a.number) AS ids
  FROM found AS a
 WHERE -- include mergeable
 GROUP BY a.key HAVING count(*) > 1
 ORDER BY min(a.number)
