-- name: list_entries
-- The entries of an agent, by number.
SELECT number, source_id, lexemes FROM mnestic.entry
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s ORDER BY number

-- name: list_postings
-- The words of each entry, and how often it has each.
SELECT lexeme, entry_number, frequency FROM mnestic.posting CROSS JOIN LATERAL mnestic.unpack_postings(postings)
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s

-- name: list_vectors
-- The vectors of a model.
SELECT entry_number, vector::real[] FROM mnestic.embedding
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND model = %(model)s

-- name: list_lexemes
-- The words of a question, as entries are indexed by them.
SELECT tsvector_to_array(to_tsvector('english', mnestic.words_apart(%s)))
