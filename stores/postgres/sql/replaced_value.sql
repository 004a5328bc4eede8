-- A fragment of `superseded.sql`: whether the text of the entry e names somebody whom the query is about, with a value that
-- the facts it asks for had before, and without one that they have now. A message that was said after all that is claimed
-- of the same may know better; an episode sums up what was said before, so it never does.
(cardinality(CAST(%(related_predicates)s AS text[])) > 0 AND CAST(%(valid_first)s AS timestamptz) IS NULL
 AND EXISTS (
     SELECT FROM unnest(CAST(%(fact_subjects)s AS text[])) AS s (name)
      CROSS JOIN unnest(CAST(%(related_predicates)s AS text[])) AS p (name)
      CROSS JOIN LATERAL (
         SELECT f.object FROM mnestic.fact AS f
          WHERE f.tenant_id = %(tenant_id)s AND f.agent_id = %(agent_id)s AND f.subject_key = s.name
            AND f.predicate = p.name AND f.status <> 'active' AND f.cardinality = 'single'
            AND (f.status = 'deleted' OR f.valid_to IS NULL OR f.valid_to <= now()) OFFSET 0) AS old
      WHERE to_tsvector('simple', e.content) @@ phraseto_tsquery('simple', old.object)
        AND (to_tsvector('simple', e.content) @@ phraseto_tsquery('simple', s.name)
             OR EXISTS (SELECT FROM mnestic.entry_term AS t
                         WHERE t.tenant_id = %(tenant_id)s AND t.agent_id = %(agent_id)s
                           AND t.kind IN ('subject', 'alias') AND t.term = s.name AND t.entry_number = e.number))
        AND (e.kind = 'episode'
             OR e.at < (SELECT max(c.said_at) FROM mnestic.claim AS c
                         WHERE c.tenant_id = %(tenant_id)s AND c.agent_id = %(agent_id)s
                           AND c.subject_key = s.name AND c.predicate = p.name))
        AND NOT EXISTS (
            SELECT FROM mnestic.fact AS f
             WHERE f.tenant_id = %(tenant_id)s AND f.agent_id = %(agent_id)s AND f.subject_key = s.name
               AND f.predicate = p.name AND f.status <> 'deleted' AND (f.valid_to IS NULL OR f.valid_to > now())
               AND to_tsvector('simple', e.content) @@ phraseto_tsquery('simple', f.object))))
