-- A fragment of other queries: the filters of a query that hold of e, an entry or an archived one, without those of its names.
(e.status = ANY(CAST(%(statuses)s AS text[]))
     OR CAST(%(includes_superseded)s AS boolean)
        AND EXISTS (SELECT FROM mnestic.supersession
                     WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND entry_id = e.id
                       AND at <= CAST(%(current_at)s AS timestamptz)))
AND (CAST(%(includes_expired)s AS boolean) OR e.expires_at IS NULL
     OR e.expires_at > COALESCE(CAST(%(as_of)s AS timestamptz), now()))
AND (CAST(%(as_of)s AS timestamptz) IS NULL OR e.at <= CAST(%(as_of)s AS timestamptz))
AND (CAST(%(entry_kinds)s AS text[]) IS NULL OR e.kind = ANY(CAST(%(entry_kinds)s AS text[])))
AND (CAST(%(types)s AS text[]) IS NULL OR e.entry_type = ANY(CAST(%(types)s AS text[])))
AND (CAST(%(session_id)s AS text) IS NULL OR e.session_id = CAST(%(session_id)s AS text))
AND (CAST(%(channel)s AS text) IS NULL OR e.channel = CAST(%(channel)s AS text))
AND (CAST(%(speaker)s AS text) IS NULL OR lower(e.speaker) = lower(CAST(%(speaker)s AS text)))
AND (CAST(%(since)s AS timestamptz) IS NULL OR e.at >= CAST(%(since)s AS timestamptz))
AND (CAST(%(until)s AS timestamptz) IS NULL OR e.at < CAST(%(until)s AS timestamptz))
AND (CAST(%(categories)s AS text[]) IS NULL OR EXISTS (
     SELECT FROM mnestic.claim AS c
       JOIN mnestic.fact AS f ON f.tenant_id = %(tenant_id)s AND f.agent_id = %(agent_id)s
        AND f.subject_key = c.subject_key AND f.predicate = c.predicate
      WHERE c.tenant_id = %(tenant_id)s AND c.agent_id = %(agent_id)s
        AND f.category = ANY(CAST(%(categories)s AS text[]))
        AND c.session_id = e.session_id AND c.source_id = e.source_id)
     OR e.kind = 'fact' AND (
         SELECT f.category = ANY(CAST(%(categories)s AS text[])) FROM mnestic.fact AS f
          WHERE f.tenant_id = %(tenant_id)s AND f.agent_id = %(agent_id)s AND f.id = e.id))
