-- Decides since when messages say what is so no longer, by which entry, and why; returns those of which that has changed. The
-- messages, live or archived, are given by session, source and time, by claims that they make, or by the ids of entries that a
-- correction may name.
-- Whoever runs it holds the agent's row of `corpus`, and needs no lock of an entry.
--
-- A message is superseded when none of its claims holds any more, and these are at least half of its text: what else it says
-- may still be so. What was told as past, and what faded, is not false. A correction supersedes what it names; if both have
-- claims, these decide. What a later message names as replaced is superseded, whatever it claims. What was decided until an entry was reinstated does not count.
WITH place AS MATERIALIZED (
    SELECT session_id, source_id, at
      FROM unnest(CAST(%(sessions)s AS text[]), CAST(%(sources)s AS text[]), CAST(%(times)s AS timestamptz[]))
        AS p (session_id, source_id, at)
     UNION
    SELECT c.session_id, c.source_id, c.said_at
      FROM unnest(CAST(%(claims)s AS text[])) AS given (id)
     CROSS JOIN LATERAL (
        SELECT session_id, source_id, said_at FROM mnestic.claim
         WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND id = given.id AND source_id IS NOT NULL OFFSET 0) AS c
),
message AS MATERIALIZED (
    SELECT e.* FROM place AS p
     CROSS JOIN LATERAL (
        SELECT id, session_id, source_id, at, reinstated_at, length(content) AS chars, audience FROM mnestic.entry
         WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND session_id = p.session_id AND at = p.at
           AND source_id = p.source_id AND kind = 'message' OFFSET 0) AS e
     UNION
    SELECT id, session_id, source_id, at, reinstated_at, length(content), audience FROM mnestic.entry
     WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND id = ANY(CAST(%(entries)s AS text[]))
       AND kind = 'message'
     UNION
    SELECT a.id, a.session_id, a.source_id, e.at, e.reinstated_at, length(e.content), a.audience
      FROM (SELECT archived.* FROM place AS p
             CROSS JOIN LATERAL (
                SELECT id, session_id, source_id, entry, audience FROM mnestic.archived_entry
                 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND session_id = p.session_id
                   AND source_id = p.source_id OFFSET 0) AS archived
             UNION ALL
            SELECT id, session_id, source_id, entry, audience FROM mnestic.archived_entry
             WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND id = ANY(CAST(%(entries)s AS text[]))) AS a
     CROSS JOIN LATERAL jsonb_populate_record(CAST(NULL AS mnestic.entry), a.entry) AS e
),
-- Until when each claim holds, by the fact that it states.
claimed AS MATERIALIZED (
    SELECT m.id AS entry_id, c.id AS claim_id, c.subject_key, c.predicate, c.span, m.audience, f.*
      FROM message AS m
     CROSS JOIN LATERAL (
        SELECT id, subject_key, predicate, source -> 'span' AS span FROM mnestic.claim
         WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND session_id = m.session_id
           AND source_id = m.source_id AND kind IN ('affirmed', 'corrected') OFFSET 0) AS c
      LEFT JOIN LATERAL (
        SELECT claims AS fact_claims, superseded_by AS successor, "end" AS fate,
               CASE WHEN status = 'active' AND valid_to IS NULL OR "end" IN ('faded', 'past') THEN 'infinity'
                    WHEN status = 'deleted' OR "end" IN ('corrected', 'undone') THEN '-infinity'
                    ELSE valid_to END AS until
          FROM mnestic.fact
         WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND subject_key = c.subject_key
           AND predicate = c.predicate AND claims ? c.id
         ORDER BY 4 DESC NULLS LAST, id LIMIT 1) AS f ON true
),
outdated AS MATERIALIZED (
    SELECT entry_id, until, subject_key, predicate, fate, successor, fact_claims, audience
      FROM (SELECT *, row_number() OVER (PARTITION BY entry_id ORDER BY until DESC NULLS LAST, predicate, claim_id) AS place
              FROM claimed) AS last_claim
     WHERE place = 1 AND until IS DISTINCT FROM 'infinity'
       AND (SELECT bool_or(span ->> 'start' IS NULL)
                   OR 2 * (SELECT sum(upper(part) - lower(part))
                             FROM unnest(range_agg(int4range(CAST(span ->> 'start' AS integer),
                                                             CAST(span ->> 'end' AS integer)))) AS part)
                      >= (SELECT chars FROM message WHERE message.id = last_claim.entry_id LIMIT 1)
              FROM claimed WHERE claimed.entry_id = last_claim.entry_id)
),
-- The next value; of what has ended without one, another that is so now.
succeeded AS MATERIALIZED (
    SELECT o.*, COALESCE(o.successor,
                         (SELECT id FROM mnestic.fact
                           WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND subject_key = o.subject_key
                             AND predicate = o.predicate AND status = 'active' AND o.fate = 'ended' AND audience = o.audience
                           ORDER BY valid_from DESC, id LIMIT 1)) AS fact_id
      FROM outdated AS o
),
-- The message that states that value, or its fact if none does; without one, the message that said that it has ended.
by_claims AS (
    SELECT s.entry_id, s.until,
           CASE WHEN s.fate IN ('superseded', 'corrected') THEN s.fate WHEN s.fact_id IS NOT NULL THEN 'superseded'
                WHEN s.fate = 'ended' THEN 'ended' ELSE 'withdrawn' END AS why,
           COALESCE(stating.id, s.fact_id) AS successor
      FROM succeeded AS s
      LEFT JOIN mnestic.fact AS g
        ON g.tenant_id = %(tenant_id)s AND g.agent_id = %(agent_id)s AND g.id = s.fact_id
      LEFT JOIN LATERAL (
        SELECT m.id
          FROM jsonb_array_elements_text(CASE WHEN s.fact_id IS NULL THEN s.fact_claims ELSE g.claims END) AS one (id)
         CROSS JOIN LATERAL (
            SELECT id, session_id, source_id, said_at FROM mnestic.claim
             WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND id = one.id AND source_id IS NOT NULL
               AND kind = ANY(CASE WHEN s.fact_id IS NULL THEN ARRAY['ended', 'retracted']
                                   ELSE ARRAY['affirmed', 'corrected'] END) OFFSET 0) AS c
         CROSS JOIN LATERAL (
            SELECT id FROM mnestic.entry
             WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND session_id = c.session_id
               AND at = c.said_at AND source_id = c.source_id AND kind = 'message' OFFSET 0) AS m
         ORDER BY c.said_at DESC, c.id LIMIT 1) AS stating ON true
),
-- The last message that names another as replaced, or correction that names it: as the first entry that it is related to, or as the
-- one that it belongs to.
by_name AS (
    SELECT m.id AS entry_id, x.at, x.id, x.why
      FROM message AS m
     CROSS JOIN LATERAL (
        SELECT e.at, e.id, COALESCE(naming.why, 'corrected') AS why
          FROM (SELECT t.entry_number AS number, NULLIF(t.kind, 'related') AS why FROM mnestic.entry_term AS t
                 WHERE t.tenant_id = %(tenant_id)s AND t.agent_id = %(agent_id)s
                   AND t.kind IN ('related', 'replaced', 'ended', 'corrected') AND t.term = m.id
                 UNION ALL
                SELECT p.number, NULL FROM mnestic.entry AS p
                 WHERE p.tenant_id = %(tenant_id)s AND p.agent_id = %(agent_id)s AND p.parent = m.id) AS naming
         CROSS JOIN LATERAL (
            SELECT id, entry_type, status, at, session_id, source_id, parent, related, audience FROM mnestic.entry
             WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND number = naming.number OFFSET 0) AS e
         WHERE e.status = 'active' AND e.audience = m.audience
           AND (naming.why IS NOT NULL
                OR e.entry_type = 'correction' AND m.id IN (e.parent, e.related ->> 0)
                   AND NOT (EXISTS (SELECT FROM claimed WHERE claimed.entry_id = m.id)
                            AND EXISTS (SELECT FROM mnestic.claim AS c
                                         WHERE c.tenant_id = %(tenant_id)s AND c.agent_id = %(agent_id)s
                                           AND c.session_id = e.session_id AND c.source_id = e.source_id)))
         ORDER BY e.at DESC, e.id DESC LIMIT 1) AS x
),
decided AS MATERIALIZED (
    SELECT id, CASE WHEN at > COALESCE(reinstated_at, '-infinity') THEN at END AS at, by, why
      FROM (SELECT m.id, m.reinstated_at, COALESCE(x.at, GREATEST(c.until, CASE WHEN c.entry_id IS NOT NULL THEN m.at END)) AS at,
                   COALESCE(x.id, c.successor) AS by, COALESCE(x.why, c.why) AS why
              FROM message AS m
              LEFT JOIN by_claims AS c ON c.entry_id = m.id
              LEFT JOIN by_name AS x ON x.entry_id = m.id) AS d
),
valid AS (
    DELETE FROM mnestic.supersession AS s USING decided AS d
     WHERE s.tenant_id = %(tenant_id)s AND s.agent_id = %(agent_id)s AND s.entry_id = d.id AND d.at IS NULL
    RETURNING s.entry_id
),
outdated_now AS (
    INSERT INTO mnestic.supersession AS s (tenant_id, agent_id, entry_id, at, by, why)
    SELECT %(tenant_id)s, %(agent_id)s, id, at, by, why FROM decided WHERE at IS NOT NULL ORDER BY id
    ON CONFLICT (tenant_id, agent_id, entry_id) DO UPDATE SET at = excluded.at, by = excluded.by, why = excluded.why
     WHERE (s.at, s.by, s.why) IS DISTINCT FROM (excluded.at, excluded.by, excluded.why)
    RETURNING s.entry_id
),
-- What was said of entries that are gone.
gone AS (
    DELETE FROM mnestic.supersession AS s
     WHERE s.tenant_id = %(tenant_id)s AND s.agent_id = %(agent_id)s AND s.entry_id = ANY(CAST(%(entries)s AS text[]))
       AND NOT EXISTS (SELECT FROM mnestic.entry AS e
                        WHERE e.tenant_id = %(tenant_id)s AND e.agent_id = %(agent_id)s AND e.id = s.entry_id)
       AND NOT EXISTS (SELECT FROM mnestic.archived_entry AS a
                        WHERE a.tenant_id = %(tenant_id)s AND a.agent_id = %(agent_id)s AND a.id = s.entry_id)
)
SELECT entry_id FROM valid UNION ALL SELECT entry_id FROM outdated_now
