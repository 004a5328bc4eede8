-- Every row that a job's memory consists of, as its identity; the ledger is not asked.
SELECT ARRAY['message', session_id, place::text, message ->> 'role', message ->> 'content']
  FROM mnestic.working_memory,
       json_array_elements(state -> 'messages') WITH ORDINALITY AS _ (message, place)
UNION ALL
SELECT ARRAY['tool call', session_id, place::text, call #>> '{arguments,conversation}']
  FROM mnestic.working_memory,
       json_array_elements(state -> 'tool_calls') WITH ORDINALITY AS _ (call, place)
UNION ALL
SELECT ARRAY['episode', job_id, COALESCE(payload ->> 'text', payload ->> 'outcome')]
  FROM mnestic.episode
UNION ALL
SELECT ARRAY['record', namespace, key, version::text, value #>> '{}']
  FROM mnestic.long_term_record
UNION ALL
SELECT ARRAY['wait', wait_id, state, request_id] FROM mnestic.job_wait
UNION ALL
SELECT ARRAY['snapshot', job_id, (encode(sha256(body), 'hex') = sha256)::text]
  FROM mnestic.memory_snapshot
UNION ALL
SELECT ARRAY['resource', session_id, speaker, content] FROM mnestic.resource
UNION ALL
SELECT ARRAY['entry', session_id, entry_type, content] FROM mnestic.entry WHERE kind = 'message'
UNION ALL
SELECT ARRAY['derived entry', x.job_id, COALESCE(x.payload ->> 'text', x.payload ->> 'outcome')]
  FROM mnestic.entry AS e JOIN mnestic.episode AS x ON x.id::text = e.id::text WHERE e.kind = 'episode'
