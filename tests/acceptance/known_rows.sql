-- Every row of a table but what clocks and runs say; an entry's number is a place in a sequence, which others take places of too, so its
-- id stands for it.
SELECT (to_jsonb(t) - %(left_out)s::text[] #- '{{source,workflow_run}}'
        || jsonb_build_object('entry', e.id)
        || jsonb_build_object('entries', (
           SELECT jsonb_agg(jsonb_build_array(x.id, p.frequency, p.length) ORDER BY x.id)
             FROM mnestic.unpack_postings(ARRAY(SELECT jsonb_array_elements_text(to_jsonb(t) -> 'postings')::bigint)) AS p
             JOIN mnestic.entry AS x ON x.tenant_id = t.tenant_id AND x.number = p.entry_number)))::text
  FROM mnestic.{table} AS t
  LEFT JOIN mnestic.entry AS e
    ON e.tenant_id = t.tenant_id
   AND e.number = COALESCE(to_jsonb(t) ->> 'entry_number', to_jsonb(t) ->> 'complete_to')::bigint
 WHERE t.tenant_id = %(tenant)s
