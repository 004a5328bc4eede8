-- A fragment of other queries: what decides which entries a cleanup leaves alone: beside what waiting jobs refer to, the `slots`, which
-- have one value at a time, by the words of their predicates, and since when they have one.
-- include waiting_roots
,
slots AS MATERIALIZED (
    SELECT plainto_tsquery('english', replace(predicate, '_', ' ')) AS words, min(valid_from) AS since FROM mnestic.fact
     WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND (status = 'active' OR "end" = 'faded') AND cardinality = 'single'
     GROUP BY predicate
)
