-- A fragment of other queries: the columns of an edge.
id, source, source_key, predicate, target, target_key, weight, is_active, valid_from, valid_to, properties, audience
