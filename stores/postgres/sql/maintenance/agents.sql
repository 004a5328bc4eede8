-- name: set_reading
-- Sets how statements run that read a whole memory, for this transaction: compiling them takes longer than it saves, and jobs
-- need the other cores.
SELECT set_config('jit', 'off', true) AS jit,
       set_config('max_parallel_workers_per_gather', '0', true) AS parallel

-- name: remove_expired_records
-- Removes the values of records that have expired. The version stays: who compares it with what a job has seen finds the record
-- gone, as before.
WITH removed AS (
    UPDATE mnestic.long_term_record SET value = NULL, expires_at = NULL, updated_at = now(),
           backend_state = CASE WHEN backend_state IS NOT NULL THEN 'pending' END
     WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND value IS NOT NULL AND expires_at <= %(now)s
 RETURNING 1
)
SELECT count(*) AS removed FROM removed

-- name: remove_old_rows
-- Removes rows that tell of the past from before a moment.
SELECT mnestic.remove_old_rows(%(agent_id)s, CAST(%(before)s AS timestamptz)) AS removed

-- name: count_active
-- Counts what is active. Entries of facts and episodes follow these, and are not removed by themselves.
SELECT (SELECT count(*) FROM mnestic.fact
         WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND status = 'active') AS facts,
       (SELECT count(*) FROM mnestic.entry
         WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND status = 'active' AND kind = 'message'
           AND (expires_at IS NULL OR expires_at > %(now)s)) AS entries

-- name: count_archived
-- Adds up what runs of maintenance did of the agent, without those that were allowed to.
SELECT COALESCE(sum(CAST(result ->> 'faded' AS integer)), 0) AS facts,
       COALESCE(sum(CAST(result ->> 'archived' AS integer)), 0) AS entries
  FROM mnestic.operation AS o
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND name = 'maintenance' AND NOT result ? %(allowed)s
   AND EXISTS (SELECT FROM unnest(CAST(%(first)s AS text[]), CAST(%(last)s AS text[])) AS of_kind (first, last)
                WHERE o.key COLLATE "C" >= first AND o.key COLLATE "C" < last)

-- name: remove_orphans
-- Removes messages that nothing refers to, of some places or of all.
SELECT mnestic.delete_orphans(%(agent_id)s, CAST(%(sessions)s AS text[]), CAST(%(sources)s AS text[])) AS removed

-- name: compare
-- Compares the vectors of entries with those that they may be merged into; of several models the lowest similarity counts.
SELECT m.merged, m.kept, min(1 - (one.vector <=> other.vector)) AS similarity
  FROM unnest(CAST(%(merged)s AS text[]), CAST(%(kept)s AS text[])) AS m (merged, kept)
  JOIN mnestic.entry AS a ON a.tenant_id = %(tenant_id)s AND a.agent_id = %(agent_id)s AND a.id = m.merged
  JOIN mnestic.entry AS b ON b.tenant_id = %(tenant_id)s AND b.agent_id = %(agent_id)s AND b.id = m.kept
  JOIN mnestic.embedding AS one ON one.tenant_id = %(tenant_id)s AND one.agent_id = %(agent_id)s AND one.entry_number = a.number
  JOIN mnestic.embedding AS other ON other.tenant_id = %(tenant_id)s AND other.agent_id = %(agent_id)s
   AND other.model = one.model AND other.entry_number = b.number
 GROUP BY m.merged, m.kept

-- name: compress
-- Notes into which entry others were compressed.
UPDATE mnestic.entry AS e SET merged_into = c.compressed_into
  FROM unnest(CAST(%(sources)s AS text[]), CAST(%(into)s AS text[])) AS c (id, compressed_into)
 WHERE e.tenant_id = %(tenant_id)s AND e.agent_id = %(agent_id)s AND e.id = c.id

-- name: find_end
-- Reads the number of the last entry of a page.
SELECT number FROM mnestic.entry
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND number > CAST(%(after)s AS bigint)
 ORDER BY number OFFSET CAST(%(skipped)s AS integer) LIMIT 1

-- name: list_without_words
-- Reads the entries between two numbers that full text search lacks words of.
SELECT e.number FROM mnestic.entry AS e
 WHERE e.tenant_id = %(tenant_id)s AND e.agent_id = %(agent_id)s AND e.number > CAST(%(after)s AS bigint)
   AND e.number <= CAST(%(up_to)s AS bigint) AND
   -- include lacks_words
 ORDER BY e.number
