-- A fragment of other queries: the messages of the session s.name, said between two moments, of which its summary is made.
-- Those that expire, duplicates and what was archived by hand are left out, and what holds no longer: a correction names the
-- message, or it states something that is no fact without an end. One that faded is not false. Each message is looked up by
-- itself (OFFSET 0), so that what a large agent claims is not read for each.
SELECT e.* FROM (
    SELECT id, session_id, source_id, at, speaker, content FROM mnestic.entry
     WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND session_id = s.name
       AND at >= CAST(%(first)s AS timestamptz) AND at < CAST(%(last)s AS timestamptz)
       AND kind = 'message' AND status = 'active' AND expires_at IS NULL
     UNION ALL
    SELECT id, session_id, source_id, at, speaker, content FROM mnestic.entry
     WHERE s.name = '' AND tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND session_id IS NULL
       AND at >= CAST(%(first)s AS timestamptz) AND at < CAST(%(last)s AS timestamptz)
       AND kind = 'message' AND status = 'active' AND expires_at IS NULL
     UNION ALL
    SELECT a.id, a.session_id, a.source_id, r.at, r.speaker, r.content
      FROM mnestic.archived_entry AS a
     CROSS JOIN LATERAL jsonb_to_record(a.entry) AS r (at timestamptz, speaker text, content text, expires_at timestamptz)
     WHERE a.tenant_id = %(tenant_id)s AND a.agent_id = %(agent_id)s AND a.session_id = s.name
       AND a.reason IN ('unimportant', 'over_limit', 'compressed') AND r.expires_at IS NULL
       AND r.at >= CAST(%(first)s AS timestamptz) AND r.at < CAST(%(last)s AS timestamptz)
     UNION ALL
    SELECT a.id, a.session_id, a.source_id, r.at, r.speaker, r.content
      FROM mnestic.archived_entry AS a
     CROSS JOIN LATERAL jsonb_to_record(a.entry) AS r (at timestamptz, speaker text, content text, expires_at timestamptz)
     WHERE s.name = '' AND a.tenant_id = %(tenant_id)s AND a.agent_id = %(agent_id)s AND a.session_id IS NULL
       AND a.reason IN ('unimportant', 'over_limit', 'compressed') AND r.expires_at IS NULL
       AND r.at >= CAST(%(first)s AS timestamptz) AND r.at < CAST(%(last)s AS timestamptz)
) AS e
 WHERE NOT EXISTS (
    SELECT FROM mnestic.claim AS c
     WHERE c.tenant_id = %(tenant_id)s AND c.agent_id = %(agent_id)s AND c.session_id = e.session_id AND c.source_id = e.source_id
       AND c.kind IN ('affirmed', 'corrected')
       AND NOT EXISTS (SELECT FROM mnestic.fact AS f
                        WHERE f.tenant_id = %(tenant_id)s AND f.agent_id = %(agent_id)s
                          AND f.subject_key = c.subject_key AND f.predicate = c.predicate AND f.claims ? c.id
                          AND f.valid_to IS NULL AND (f.status = 'active' OR f.status = 'archived' AND f."end" = 'faded') OFFSET 0) OFFSET 0)
   AND NOT -- include corrected
