-- A fragment of other queries: messages that are named by their sessions and source ids.
SELECT named.session_id, named.source_id
  FROM unnest(CAST(%(sessions)s AS text[]), CAST(%(sources)s AS text[])) AS named (session_id, source_id)
