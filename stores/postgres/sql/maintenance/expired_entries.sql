-- Entries of messages that have expired; a critical one too, since whoever gave it an end has decided that. The entry of a fact that
-- has ended stays with it: it answers what was so then. What a waiting job refers to stays until that job has ended.
WITH
-- include waiting_roots
SELECT e.id, e.number FROM mnestic.entry AS e
 WHERE e.tenant_id = %(tenant_id)s AND e.agent_id = %(agent_id)s AND e.expires_at <= CAST(%(now)s AS timestamptz) AND e.kind = 'message'
   AND e.number > CAST(%(after)s AS bigint)
   AND NOT EXISTS (SELECT FROM cited AS c WHERE c.id = e.id)
   AND NOT EXISTS (SELECT FROM waits AS w WHERE w.session_id = e.session_id)
   AND NOT EXISTS (SELECT FROM pinned AS p WHERE p.session_id = e.session_id AND p.source_id = e.source_id)
 ORDER BY e.number LIMIT CAST(%(limit)s AS integer)
