-- A fragment of other queries: the columns of an entry. A `real` has the digits of its text; in the binary form it would have others.
id, number, kind, entry_type, status, content, COALESCE(summary, content) AS summary, session_id, source_id, channel, speaker, subjects, keywords, tags, aliases,
times, related, replaces, parent, CAST(CAST(importance AS text) AS float8) AS importance, critical, access_count, last_accessed,
language, merged_into, at, created_at, updated_at, expires_at, reinstated_at, audience
