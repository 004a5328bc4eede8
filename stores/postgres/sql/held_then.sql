-- A fragment of other queries: whether the fact f held at some of the moments that are asked about. It had not ended by the
-- first of them, and it had begun by the last; or, of what the question is about, nobody knows since when it is so, and
-- nothing else is known to have been so before it.
(f.status <> 'deleted'
 AND (f.valid_to IS NULL OR f.valid_to > GREATEST(f.valid_from, CAST(%(held_first)s AS timestamptz)))
 AND (f.valid_from <= CAST(%(held_last)s AS timestamptz)
      OR f.predicate = ANY(CAST(%(held_asked)s AS text[]))
         -- What came before: of what is one after the other the one before it, of what may be beside others any.
         AND NOT EXISTS (
             SELECT FROM mnestic.fact AS g
              WHERE g.tenant_id = %(tenant_id)s AND g.agent_id = %(agent_id)s AND g.subject_key = f.subject_key
                AND g.predicate = ANY(CAST(%(held_asked)s AS text[])) AND g.status <> 'deleted'
                AND (g.valid_to IS NULL OR g.valid_to > GREATEST(g.valid_from, CAST(%(held_first)s AS timestamptz)))
                AND CASE f.cardinality WHEN 'single' THEN g.predicate = f.predicate AND g.valid_from < f.valid_from
                                       ELSE g.valid_from <= CAST(%(held_last)s AS timestamptz) END)
         -- Somebody said since when it is so.
         AND NOT EXISTS (
             SELECT FROM mnestic.claim AS d
              WHERE d.tenant_id = %(tenant_id)s AND d.agent_id = %(agent_id)s AND d.subject_key = f.subject_key
                AND d.predicate = f.predicate AND f.claims ? d.id AND d.kind IN ('affirmed', 'corrected')
                AND d.valid_from IS NOT NULL)))
