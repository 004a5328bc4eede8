-- Groups of entries that may say the same: active ones with the same readers and names, of which the same is left without spaces, punctuation
-- and words that add nothing. One that others belong to, that a correction names, that a waiting job refers to, that is still to
-- be learned from or that was restored stays by itself.
-- Only entries with the same key are looked up (`OFFSET 0`).
WITH
-- include waiting_roots
,
repeated AS MATERIALIZED (
    SELECT duplicate_key AS key, audience, array_agg(number) AS numbers FROM mnestic.entry
     WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s
       AND duplicate_key IS NOT NULL AND status = 'active' AND merged_into IS NULL
     GROUP BY duplicate_key, audience HAVING count(*) > 1
),
found AS MATERIALIZED (
    SELECT r.key, r.audience, e.id, e.number, e.session_id, e.source_id
      FROM repeated AS r
     CROSS JOIN LATERAL unnest(r.numbers) AS one (number)
     CROSS JOIN LATERAL (
        SELECT id, number, session_id, source_id, expires_at, replaces FROM mnestic.entry
         WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND number = one.number OFFSET 0) AS e
     WHERE e.replaces = '[]' AND (e.expires_at IS NULL OR e.expires_at > CAST(%(now)s AS timestamptz))
)
SELECT array_agg(a.id ORDER BY a.number) AS ids, min(a.number) AS number
  FROM found AS a
 WHERE -- include mergeable
 GROUP BY a.key, a.audience HAVING count(*) > 1 AND min(a.number) > CAST(%(after)s AS bigint)
 ORDER BY min(a.number)
