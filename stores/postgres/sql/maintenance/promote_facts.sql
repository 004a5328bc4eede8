-- Facts that were used since they were last promoted: an entry of theirs was retrieved, their own or that of a message which
-- states them. What use adds is a column of its own, which is added again whenever the facts are computed from claims.
-- What has decayed counts in full again. A fact that somebody writes just now is left for the next time.
WITH used AS MATERIALIZED (
    SELECT id, kind, session_id, source_id, last_accessed FROM mnestic.entry
     WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND last_accessed <= CAST(%(now)s AS timestamptz)
       AND kind IN ('message', 'fact')
), uses AS (
    SELECT id AS fact_id, last_accessed FROM used WHERE kind = 'fact'
     UNION ALL
    SELECT f.id, u.last_accessed FROM used AS u
     CROSS JOIN LATERAL (
        SELECT id, subject_key, predicate FROM mnestic.claim
         WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s
           AND session_id = u.session_id AND source_id = u.source_id OFFSET 0) AS c
     CROSS JOIN LATERAL (
        SELECT id, claims FROM mnestic.fact
         WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s
           AND subject_key = c.subject_key AND predicate = c.predicate OFFSET 0) AS f
     WHERE u.kind = 'message' AND f.claims ? c.id
), latest AS MATERIALIZED (
    SELECT fact_id, max(last_accessed) AS used_at FROM uses GROUP BY fact_id
), free AS MATERIALIZED (
    SELECT f.id, l.used_at, LEAST(CAST(%(step)s AS float8), GREATEST(0, CAST(%(most)s AS float8) - f.confidence)) AS gain
      FROM latest AS l
      JOIN mnestic.fact AS f ON f.tenant_id = %(tenant_id)s AND f.agent_id = %(agent_id)s AND f.id = l.fact_id
     WHERE f.status = 'active' AND (f.used_at IS NULL OR f.used_at < l.used_at)
       FOR UPDATE OF f SKIP LOCKED
), promoted AS (
    UPDATE mnestic.fact AS f
       SET used_at = p.used_at, promotion = round(CAST(f.promotion + p.gain AS numeric), 4),
           confidence = round(CAST(f.confidence + p.gain AS numeric), 4),
           decayed_confidence = NULL
      FROM free AS p
     WHERE f.tenant_id = %(tenant_id)s AND f.agent_id = %(agent_id)s AND f.id = p.id
 RETURNING 1
)
SELECT count(*) AS promoted FROM promoted
