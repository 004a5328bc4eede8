-- A fragment of other queries: whether a cleanup may remove k, an entry or an archived one. Not what is critical, what a waiting
-- job refers to, what is still to be learned from, or what alone states a fact; nor what may give a slot a new value and was not
-- understood, since it is later and has the words of its predicate; nor what corrects or replaces an entry while that is there, or
-- was before this run: else what it has hidden would be believed again.
NOT k.critical
AND NOT EXISTS (SELECT FROM cited AS c WHERE c.id = k.id)
AND NOT EXISTS (SELECT FROM waits AS w WHERE w.session_id = k.session_id)
AND NOT EXISTS (SELECT FROM pinned AS p WHERE p.session_id = k.session_id AND p.source_id = k.source_id)
AND NOT EXISTS (SELECT FROM mnestic.ingest_state AS i
                 WHERE i.tenant_id = %(tenant_id)s AND i.agent_id = %(agent_id)s AND i.session_id = k.session_id
                   AND i.source_id = k.source_id AND i.state IN ('received', 'extracted') OFFSET 0)
AND NOT -- include states_alone
AND NOT EXISTS (SELECT FROM slots AS s WHERE s.since < k.at AND mnestic.words_of('english', k.content) @@ s.words)
AND NOT ((k.entry_type = 'correction' OR COALESCE(k.replaces, '[]') <> '[]')
         AND EXISTS (
            SELECT FROM (SELECT unnest(ARRAY[k.parent, k.related ->> 0]) AS id WHERE k.entry_type = 'correction'
                          UNION ALL SELECT one ->> 0 FROM jsonb_array_elements(k.replaces) AS one) AS named
             WHERE EXISTS (SELECT FROM mnestic.entry AS x
                            WHERE x.tenant_id = %(tenant_id)s AND x.agent_id = %(agent_id)s AND x.kind = 'message'
                              AND x.id = named.id OFFSET 0)
                OR EXISTS (SELECT FROM mnestic.archived_entry AS x
                            WHERE x.tenant_id = %(tenant_id)s AND x.agent_id = %(agent_id)s AND x.run = %(run)s
                              AND x.id = named.id OFFSET 0)))
