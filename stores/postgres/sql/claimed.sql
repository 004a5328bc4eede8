-- A fragment of other queries: the claims of the entry e, where its text makes each, and whether it holds, now or in the interval
-- of the query.
(SELECT c.predicate, c.object, c.source -> 'span' AS span,
       CASE WHEN CAST(%(valid_first)s AS timestamptz) IS NULL THEN
           -- Two indexes cover active facts alone, so past ones cost nothing.
           EXISTS (SELECT FROM mnestic.fact AS f
                    WHERE f.tenant_id = %(tenant_id)s AND f.agent_id = %(agent_id)s
                      AND f.subject_key = c.subject_key AND f.predicate = c.predicate AND f.claims ? c.id
                      AND f.status = 'active' AND f.cardinality = 'single'
                      AND (f.valid_to IS NULL OR f.valid_to > now()))
           OR EXISTS (SELECT FROM mnestic.fact AS f
                       WHERE f.tenant_id = %(tenant_id)s AND f.agent_id = %(agent_id)s
                         AND f.subject_key = c.subject_key AND f.predicate = c.predicate AND f.claims ? c.id
                         AND f.status = 'active' AND f.cardinality = 'multi'
                         AND (f.valid_to IS NULL OR f.valid_to > now()))
           -- It ends when another value begins, which is still to come; or it has faded, which does not make it false.
           OR EXISTS (SELECT FROM mnestic.fact AS f
                       WHERE f.tenant_id = %(tenant_id)s AND f.agent_id = %(agent_id)s
                         AND f.subject_key = c.subject_key AND f.predicate = c.predicate AND f.claims ? c.id
                         AND f.status = 'archived' AND f.valid_from <= now()
                         AND (f.valid_to > now() OR f.valid_to IS NULL AND f."end" = 'faded'))
       ELSE
           EXISTS (SELECT FROM mnestic.fact AS f
                    WHERE f.tenant_id = %(tenant_id)s AND f.agent_id = %(agent_id)s
                      AND f.subject_key = c.subject_key AND f.predicate = c.predicate AND f.claims ? c.id
                      AND -- include valid_then
                  )
       END AS holds
  FROM mnestic.claim AS c
 WHERE c.tenant_id = %(tenant_id)s AND c.agent_id = %(agent_id)s AND c.kind IN ('affirmed', 'corrected')
   AND c.session_id = e.session_id AND c.source_id = e.source_id) AS claimed
