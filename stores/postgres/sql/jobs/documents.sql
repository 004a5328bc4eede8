-- name: put
-- Writes a document, unless it is an exported one and there is one of its id, and returns whether it is new, the numbers of the parts that it had, and the time.
INSERT INTO mnestic.document AS d
       (tenant_id, agent_id, collection_id, id, metadata, source, places, numbers, created_at, updated_at)
VALUES (%(tenant_id)s, %(agent_id)s, %(collection_id)s, %(id)s, CAST(%(metadata)s AS jsonb), %(source)s,
        CAST(%(places)s AS jsonb), '{}', COALESCE(CAST(%(created_at)s AS timestamptz), now()),
        COALESCE(CAST(%(updated_at)s AS timestamptz), now()))
ON CONFLICT (tenant_id, agent_id, collection_id, id)
DO UPDATE SET metadata = excluded.metadata, source = excluded.source, places = excluded.places, updated_at = now()
 WHERE CAST(%(created_at)s AS timestamptz) IS NULL
RETURNING xmax = 0 AS is_new, numbers, now() AS at

-- name: number
-- Writes the numbers of a document's parts, in their order.
UPDATE mnestic.document SET numbers = CAST(%(numbers)s AS bigint[])
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND collection_id = %(collection_id)s AND id = %(id)s

-- name: remove
-- Removes a document, and returns the numbers of its parts.
DELETE FROM mnestic.document
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND collection_id = %(collection_id)s AND id = %(id)s
RETURNING numbers

-- name: find_corpus
-- Reads how many vectors of a model a collection has.
SELECT entries FROM mnestic.embedding_model
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(corpus)s AND model = %(model)s

-- name: set_search
-- Sets how far a search of an index looks, for this transaction.
SELECT set_config('hnsw.ef_search', %(ef_search)s, true) AS ef_search

-- name: list_documents
-- Reads a page of documents with the texts of their parts.
SELECT d.collection_id, d.id, d.metadata, d.source, d.places, d.created_at, d.updated_at,
       ARRAY(SELECT e.content FROM unnest(d.numbers) WITH ORDINALITY AS p (number, place)
              CROSS JOIN LATERAL (SELECT content FROM mnestic.entry
                                   WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s || '/' || d.collection_id
                                     AND number = p.number OFFSET 0) AS e
              ORDER BY p.place) AS contents
  FROM mnestic.document AS d
 WHERE d.tenant_id = %(tenant_id)s AND d.agent_id = %(agent_id)s
   AND (d.collection_id, d.id) > (%(after)s, %(after_id)s) -- if after
 ORDER BY d.collection_id, d.id
 LIMIT %(limit)s
