-- A fragment of other queries: the columns of a claim.
id, kind, subject, subject_key, predicate, object, confidence, said_at, valid_from, valid_to, source
