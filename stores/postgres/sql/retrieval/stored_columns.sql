-- A fragment of fetch_hits: what an entry has beside its id, session and content, in the order of `STORED` in `search.py`.
e.kind, e.entry_type, e.summary, e.source_id, e.channel, e.speaker, e.subjects, e.keywords, e.tags, e.aliases, e.times, e.related, e.replaces,
e.parent, e.importance, e.critical, e.access_count, e.last_accessed, e.status, e.merged_into, e.at, e.created_at, e.updated_at, e.expires_at,
e.reinstated_at
