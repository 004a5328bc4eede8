-- name: now
-- Reads when the transaction began.
SELECT now() AS moment

-- name: clock
-- Reads what time it is.
SELECT clock_timestamp() AS moment

-- name: set_audience
-- Has a transaction see and write the rows of one audience alone, or see all.
SELECT set_config('mnestic.audience', %(audience)s, true) AS audience,
       set_config('mnestic.audiences', CASE WHEN %(audience)s = '' THEN '' ELSE '{' || %(audience)s || '}' END, true) AS audiences

-- name: add_audience
-- Adds a set of readers, unless it is there.
INSERT INTO mnestic.reader_set (tenant_id, agent_id, readers)
VALUES (%(tenant_id)s, %(agent_id)s, CAST(%(readers)s AS text[]))
ON CONFLICT DO NOTHING

-- name: find_audience
-- Reads the audience of a set of readers.
SELECT id
  FROM mnestic.reader_set
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND readers = CAST(%(readers)s AS text[])

-- name: audience_of_message
-- The audience that a message has if it is kept, else will have; a set of readers that is new is added.
SELECT COALESCE((SELECT audience FROM mnestic.resource
                  WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND session_id = %(session_id)s AND source_id = %(source_id)s),
                mnestic.audience_of_message(%(tenant_id)s, %(agent_id)s, %(session_id)s, %(channel)s,
                                            CAST(%(readers)s AS text[]))) AS audience

-- name: raise_revision
-- Raises the agent's revision before the end of the transaction.
INSERT INTO mnestic.agent_revision AS r (tenant_id, agent_id, revision, updated_at)
VALUES (%(tenant_id)s, %(agent_id)s, 1, now())
ON CONFLICT (tenant_id, agent_id) DO UPDATE SET revision = r.revision + 1, updated_at = now()
RETURNING revision
