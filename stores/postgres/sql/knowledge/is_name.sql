-- A fragment of other queries: whether a fact says what somebody is called; the index `fact_by_name` has these facts.
status = 'active' AND predicate IN ('also_known_as', 'full_name', 'nickname', 'preferred_name')
