-- A fragment of other queries: the columns of a fact.
id, subject, subject_key, predicate, object, category, cardinality, status, confidence, valid_from, valid_to, "end", supersedes,
superseded_by, decayed_confidence, promotion, used_at, claims
