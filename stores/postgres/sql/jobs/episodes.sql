-- name: append
-- Adds an episode, unless there is one of its id.
INSERT INTO mnestic.episode (tenant_id, id, agent_id, session_id, job_id, summary, payload, created_at, audience)
VALUES (%(tenant_id)s, %(id)s, %(agent_id)s, %(session_id)s, %(job_id)s, %(summary)s, %(payload)s, %(created_at)s,
        -- include session_audience
       )
ON CONFLICT DO NOTHING

-- name: list
-- Reads a page of episodes, newest first: of the agent, a session or a job.
SELECT id, agent_id, session_id, job_id, summary, payload, created_at
  FROM mnestic.episode
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s
   AND session_id = %(of_session)s -- if of_session
   AND job_id = %(of_job)s -- if of_job
   AND (created_at, id) < (CAST(%(before)s AS timestamptz), %(before_id)s) -- if before
 ORDER BY created_at DESC, id DESC
 LIMIT %(limit)s
