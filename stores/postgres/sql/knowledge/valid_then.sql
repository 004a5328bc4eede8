-- A fragment of other queries: whether the fact f was valid at some moment of an interval. It had not ended by the first
-- moment, and it had begun by the last. A fact of one of `valid_predicates` is also valid if nobody said when it began and
-- no other fact is known from before it.
(f.status <> 'deleted'
 AND (f.valid_to IS NULL OR f.valid_to > GREATEST(f.valid_from, CAST(%(valid_first)s AS timestamptz)))
 AND (f.valid_from <= CAST(%(valid_last)s AS timestamptz)
      OR f.predicate = ANY(CAST(%(valid_predicates)s AS text[]))
         -- A fact from before it: of a single predicate an earlier one, of a multiple one any.
         AND NOT EXISTS (
             SELECT FROM mnestic.fact AS g
              WHERE g.tenant_id = %(tenant_id)s AND g.agent_id = %(agent_id)s AND g.subject_key = f.subject_key
                AND g.predicate = ANY(CAST(%(valid_predicates)s AS text[])) AND g.status <> 'deleted'
                AND (g.valid_to IS NULL OR g.valid_to > GREATEST(g.valid_from, CAST(%(valid_first)s AS timestamptz)))
                AND CASE f.cardinality WHEN 'single' THEN g.predicate = f.predicate AND g.valid_from < f.valid_from
                                       ELSE g.valid_from <= CAST(%(valid_last)s AS timestamptz) END)
         -- A claim that says when it began.
         AND NOT EXISTS (
             SELECT FROM mnestic.claim AS d
              WHERE d.tenant_id = %(tenant_id)s AND d.agent_id = %(agent_id)s AND d.subject_key = f.subject_key
                AND d.predicate = f.predicate AND f.claims ? d.id AND d.kind IN ('affirmed', 'corrected')
                AND d.valid_from IS NOT NULL)))
