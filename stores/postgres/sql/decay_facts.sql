-- The decayed confidence of the active facts of an agent at a moment, and those that fade. It follows from the confidence, and
-- from when the fact was last said or used, so a second run changes nothing. Facts that a person has added or reactivated,
-- and those that a critical entry states, do not decay.
WITH
-- include waiting_roots
,
supported AS MATERIALIZED (
    SELECT f.id, f.subject, f.predicate, f.object, f.confidence, f.decayed_confidence, f.valid_from, s.is_lasting,
           GREATEST(0, floor(extract(epoch FROM CAST(%(now)s AS timestamptz)
                                                - GREATEST(s.said_at, s.used_at, own.last_accessed, f.used_at)) / 86400)) AS days
      FROM mnestic.fact AS f
     CROSS JOIN LATERAL (
        SELECT max(c.said_at) FILTER (WHERE c.kind IN ('affirmed', 'corrected', 'reactivated')) AS said_at,
               GREATEST(max(e.last_accessed), max(a.last_accessed)) AS used_at,
               bool_or(c.extractor = 'person' OR COALESCE(e.critical, false) OR COALESCE(a.critical, false)) AS is_lasting
          FROM jsonb_array_elements_text(f.claims) AS claimed (id)
         CROSS JOIN LATERAL (
            SELECT kind, said_at, session_id, source_id, source ->> 'extractor' AS extractor FROM mnestic.claim
             WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND id = claimed.id OFFSET 0) AS c
          LEFT JOIN LATERAL (
            SELECT critical, last_accessed FROM mnestic.entry
             WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND session_id = c.session_id
               AND at = c.said_at AND source_id = c.source_id AND kind = 'message' OFFSET 0) AS e ON true
          LEFT JOIN LATERAL (
            SELECT CAST(entry ->> 'critical' AS boolean) AS critical, CAST(entry ->> 'last_accessed' AS timestamptz) AS last_accessed
              FROM mnestic.archived_entry
             WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND session_id = c.session_id
               AND source_id = c.source_id OFFSET 0) AS a ON true) AS s
      LEFT JOIN LATERAL (
        SELECT last_accessed FROM mnestic.entry
         WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND id = f.id OFFSET 0) AS own ON true
     WHERE f.tenant_id = %(tenant_id)s AND f.agent_id = %(agent_id)s AND f.status = 'active'
),
decayed AS MATERIALIZED (
    SELECT id, subject, predicate, object, valid_from, decayed_confidence AS before, days,
           CASE WHEN is_lasting OR days = 0 THEN NULL
                ELSE CAST(round(CAST(confidence * power(0.5, days / CAST(%(half_life_days)s AS float8)) AS numeric), 4) AS float8)
                END AS after
      FROM supported
),
written AS (
    UPDATE mnestic.fact AS f SET decayed_confidence = d.after
      FROM decayed AS d
     WHERE f.tenant_id = %(tenant_id)s AND f.agent_id = %(agent_id)s AND f.id = d.id AND d.before IS DISTINCT FROM d.after
    RETURNING d.after
)
SELECT (SELECT count(after) FROM written) AS decayed, (SELECT count(*) FROM written) AS written,
       COALESCE((SELECT json_agg(json_build_object('id', id, 'subject', subject, 'predicate', predicate, 'object', object) ORDER BY id)
                   FROM decayed AS d
                  WHERE d.after < CAST(%(fade_below_confidence)s AS float8) AND d.days >= CAST(%(fade_after_days)s AS integer)
                    AND d.valid_from <= CAST(%(now)s AS timestamptz) - CAST(%(fade_after_days)s AS integer) * interval '1 day'
                    AND NOT EXISTS (SELECT FROM cited AS c WHERE c.id = d.id)), '[]') AS fading
