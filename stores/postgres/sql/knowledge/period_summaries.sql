-- name: count_messages
-- Counts the messages, archived ones too, up to a number of each.
SELECT (SELECT count(*) FROM (
            SELECT FROM mnestic.entry
             WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND kind = 'message'
             LIMIT CAST(%(limit)s AS bigint)) AS live)
     + (SELECT count(*) FROM (
            SELECT FROM mnestic.archived_entry
             WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s LIMIT CAST(%(limit)s AS bigint)) AS archived) AS messages

-- name: list_sessions
-- Reads a page of the sessions that have messages or a summary, by name.
SELECT name FROM (
    (SELECT DISTINCT session_id AS name FROM mnestic.entry
      WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND session_id > %(after)s
      ORDER BY session_id LIMIT CAST(%(limit)s AS integer))
     UNION
    (SELECT DISTINCT session_id FROM mnestic.archived_entry
      WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND session_id > %(after)s
      ORDER BY session_id LIMIT CAST(%(limit)s AS integer))
     UNION
    (SELECT DISTINCT session_id FROM mnestic.summary
      WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND level = 'session' AND session_id > %(after)s
      ORDER BY session_id LIMIT CAST(%(limit)s AS integer))) AS known
 ORDER BY name LIMIT CAST(%(limit)s AS integer)

-- name: list_below
-- Reads a page of the summaries of the level below that the summary of a period is made of, with the mark of each in its digest.
SELECT starts_at AS at, session_id AS key, text, session_id || ':' || digest AS mark
  FROM mnestic.summary
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND level = %(below)s
   AND starts_at >= CAST(%(first)s AS timestamptz) AND starts_at < CAST(%(last)s AS timestamptz)
   AND (starts_at, session_id COLLATE "C") > (CAST(%(after_at)s AS timestamptz), %(after_key)s)
 ORDER BY starts_at, session_id COLLATE "C"
 LIMIT %(limit)s

-- name: remove
-- Removes the summary of a period, or of a session in it. The life is one, whenever it begins.
DELETE FROM mnestic.summary
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND level = %(level)s
   AND (level = 'life' OR starts_at = CAST(%(starts_at)s AS timestamptz) AND session_id = %(session_id)s)

-- name: remove_above
-- Removes the summaries of the levels above of which a period is part.
DELETE FROM mnestic.summary
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND level = ANY(CAST(%(above)s AS text[]))
   AND starts_at <= CAST(%(starts_at)s AS timestamptz) AND ends_at > CAST(%(starts_at)s AS timestamptz)

-- name: add
-- Adds a summary.
INSERT INTO mnestic.summary (tenant_id, agent_id, level, starts_at, session_id, ends_at, text, tokens, messages, digest, updated_at)
VALUES (%(tenant_id)s, %(agent_id)s, %(level)s, %(starts_at)s, %(session_id)s, %(ends_at)s, %(text)s, %(tokens)s, %(messages)s,
        %(digest)s, %(at)s)

-- name: count_built
-- Counts the summaries that were written at a moment.
SELECT count(*) AS built
  FROM mnestic.summary
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND updated_at = %(at)s

-- name: remove_all
-- Removes all summaries of the agent.
DELETE FROM mnestic.summary
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s

-- name: list
-- Reads a page of the summaries of some levels, in their order, each from the latest on.
SELECT -- include summary_columns
  FROM unnest(CAST(%(levels)s AS text[])) WITH ORDINALITY AS wanted (level, place)
  JOIN mnestic.summary USING (level)
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s
   AND (place > CAST(%(after_place)s AS integer) -- if after_place
        OR place = CAST(%(after_place)s AS integer) AND (starts_at, session_id) < (CAST(%(after_at)s AS timestamptz), %(after_session)s)) -- if after_place
 ORDER BY place, starts_at DESC, session_id DESC
 LIMIT %(limit)s
