-- The decayed confidence of the active facts of an agent at a moment, and how many of them fade. It follows from the confidence, and
-- from when the fact was last learned or used, so a second run changes nothing. Facts that a person has added or reactivated,
-- and those that a critical entry states, do not decay.
WITH
-- include waiting_roots
,
supported AS MATERIALIZED (
    SELECT f.id, f.confidence, f.decayed_confidence, f.valid_from, s.is_lasting,
           GREATEST(0, floor(extract(epoch FROM CAST(%(now)s AS timestamptz)
                                                - GREATEST(s.learned_at, s.used_at, own.last_accessed, f.used_at)) / 86400)) AS days
      FROM mnestic.fact AS f
     -- include fact_support
     WHERE f.tenant_id = %(tenant_id)s AND f.agent_id = %(agent_id)s AND f.status = 'active'
),
decayed AS MATERIALIZED (
    SELECT id, valid_from, decayed_confidence AS before, days,
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
       (SELECT count(*) FROM decayed AS d
         WHERE d.after < CAST(%(fade_below_confidence)s AS float8) AND d.days >= CAST(%(fade_after_days)s AS integer)
           AND d.valid_from <= CAST(%(now)s AS timestamptz) - CAST(%(fade_after_days)s AS integer) * interval '1 day'
           AND NOT EXISTS (SELECT FROM cited AS c WHERE c.id = d.id)) AS fading
