-- A fragment of other queries: whether full text search lacks a word of the entry e.
EXISTS (SELECT FROM unnest(to_tsvector(CAST(e.language AS regconfig), mnestic.words_apart(e.content))) AS word
         WHERE NOT EXISTS (
               SELECT FROM (SELECT postings FROM mnestic.posting AS p
                             WHERE p.tenant_id = %(tenant_id)s AND p.agent_id = e.agent_id AND p.lexeme = word.lexeme
                               AND p.audience = e.audience AND p.first_number <= e.number
                             ORDER BY p.first_number DESC LIMIT 1) AS list, mnestic.unpack_postings(list.postings) AS p
                WHERE p.entry_number = e.number))
