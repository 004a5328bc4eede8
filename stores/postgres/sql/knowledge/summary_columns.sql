-- A fragment of other queries: the columns of a summary by time.
level, starts_at, ends_at, session_id, text, tokens, messages, updated_at
