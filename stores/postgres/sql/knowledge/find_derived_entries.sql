-- The entries that facts, episodes and compressed entries should have, beside those that they have. A fact has one if no message states it and it
-- is active, has faded, or another takes its place only later; what somebody decides now may be dated some moments ahead. Whatever became
-- of a fact, or of a message that states it, its id or the message's place comes in here.
-- Every row is looked up by its whole key (OFFSET 0), so that what a large agent has is not read for a few.
WITH touched AS MATERIALIZED (
    SELECT id FROM unnest(CAST(%(facts)s AS text[])) AS given (id)
     UNION
    SELECT f.id FROM unnest(CAST(%(sessions)s AS text[]), CAST(%(sources)s AS text[])) AS p (session_id, source_id)
     CROSS JOIN LATERAL (
        SELECT id, subject_key, predicate FROM mnestic.claim
         WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s
           AND session_id = p.session_id AND source_id = p.source_id OFFSET 0) AS c
     CROSS JOIN LATERAL (
        SELECT id, claims FROM mnestic.fact
         WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s
           AND subject_key = c.subject_key AND predicate = c.predicate OFFSET 0) AS f
     WHERE f.claims ? c.id
),
wanted AS MATERIALIZED (
    SELECT f.* FROM touched AS t
     CROSS JOIN LATERAL (
        SELECT audience, -- include fact_columns
          FROM mnestic.fact
         WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND id = t.id OFFSET 0) AS f
     WHERE (f.status = 'active'
            OR f.status = 'archived' AND (f."end" = 'faded' OR f.valid_to > GREATEST(f.valid_from, now() + interval '1 minute')))
       AND NOT EXISTS (
           SELECT FROM jsonb_array_elements_text(f.claims) AS claimed (id)
            CROSS JOIN LATERAL (
               SELECT session_id, source_id, said_at FROM mnestic.claim
                WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND id = claimed.id
                  AND kind IN ('affirmed', 'corrected') AND source_id IS NOT NULL OFFSET 0) AS c
            CROSS JOIN LATERAL (
               SELECT FROM mnestic.entry
                WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND session_id = c.session_id
                  AND at = c.said_at AND source_id = c.source_id AND kind = 'message' OFFSET 0) AS e)
),
found AS (
    SELECT 'fact' AS kind, t.id, to_jsonb(w) - 'audience' AS origin, w.audience FROM touched AS t LEFT JOIN wanted AS w ON w.id = t.id
     UNION ALL
    SELECT 'episode', g.id, to_jsonb(e) - 'audience', e.audience
      FROM (SELECT DISTINCT id FROM unnest(CAST(%(episodes)s AS text[])) AS given (id)) AS g
      LEFT JOIN LATERAL (
        SELECT id, summary, session_id, created_at, audience FROM mnestic.episode
         WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND id = g.id OFFSET 0) AS e ON true
     UNION ALL
    SELECT 'compressed', g.id, s.sources, s.audience
      FROM (SELECT DISTINCT id FROM unnest(CAST(%(compressed)s AS text[])) AS given (id)) AS g
     CROSS JOIN LATERAL (
        SELECT jsonb_agg(entry) AS sources, CASE WHEN min(audience) = max(audience) THEN min(audience) ELSE -1 END AS audience
          FROM mnestic.archived_entry
         WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND merged_into = g.id AND reason = 'compressed') AS s
)
SELECT f.kind, f.id, CAST(f.origin AS text) AS origin, f.audience, e.number, e.content, CAST(e.subjects AS text) AS subjects,
       CAST(e.tags AS text) AS tags, CAST(e.aliases AS text) AS aliases, e.at, e.expires_at, now() AS now,
       (SELECT value FROM mnestic.setting
         WHERE tenant_id = %(tenant_id)s AND agent_id = '*' AND name = 'importance_policy') AS importance_policy
  FROM found AS f
  LEFT JOIN LATERAL (
    SELECT number, content, subjects, tags, aliases, at, expires_at FROM mnestic.entry
     WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND id = f.id OFFSET 0) AS e ON true
 ORDER BY f.kind, f.id
