-- The messages that the summary of a session in a week is made of, in the order of time, with the mark of each in its digest.
SELECT e.at, e.id AS key, e.speaker || ': ' || left(e.content, 2000) AS text,
       e.id || ':' || encode(sha256(convert_to(e.content, 'UTF8')), 'hex') AS mark
  FROM unnest(CAST(%(sessions)s AS text[])) AS s (name)
 CROSS JOIN LATERAL (
-- include summarised_messages
 ) AS e
 WHERE (e.at, e.id COLLATE "C") > (CAST(%(after_at)s AS timestamptz), %(after_key)s)
 ORDER BY e.at, e.id COLLATE "C" LIMIT CAST(%(limit)s AS integer)
