-- name: open
-- Opens a wait, unless there is one of its id; it is too late if the job has ended, whose operation has an index of its own.
INSERT INTO mnestic.job_wait (tenant_id, agent_id, session_id, job_id, wait_id, key, state, policy, snapshot_id, context, outcomes,
                              ask, form, deadline, opened_at, event_channel, event_where, fact, temporal_namespace)
VALUES (%(tenant_id)s, %(agent_id)s, %(session_id)s, %(job_id)s, %(wait_id)s, %(key)s, %(state)s, %(policy)s, %(snapshot_id)s,
        %(context)s, %(outcomes)s, %(ask)s, %(form)s, %(deadline)s, %(opened_at)s, %(event_channel)s, %(event_where)s,
        %(fact)s, %(temporal_namespace)s)
ON CONFLICT DO NOTHING
RETURNING EXISTS (SELECT FROM mnestic.operation
                   WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND job_id = %(job_id)s
                     AND name = 'end') AS too_late

-- name: get
-- Reads a wait.
SELECT -- include wait_columns
  FROM mnestic.job_wait
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND wait_id = %(wait_id)s

-- name: close
-- Closes a wait that is open; the index of requests refuses a second wait of the same request.
UPDATE mnestic.job_wait
   SET state = %(state)s, closed_at = now(), request_id = %(request_id)s, receipt = %(receipt)s
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND wait_id = %(wait_id)s AND state = 'waiting'
RETURNING -- include wait_columns

-- name: extend
-- Gives a wait that is open another deadline.
UPDATE mnestic.job_wait
   SET deadline = %(deadline)s
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND wait_id = %(wait_id)s AND state = 'waiting'

-- name: cancel_open
-- Cancels the open waits of a job.
UPDATE mnestic.job_wait
   SET state = 'cancelled', closed_at = now()
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND job_id = %(job_id)s AND state = 'waiting'

-- name: find_receipt
-- Reads what a request of a job was answered with.
SELECT receipt
  FROM mnestic.job_wait
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND job_id = %(job_id)s AND request_id = %(request_id)s

-- name: list_by_job
-- Reads a page of the waits of a job, oldest first.
SELECT -- include wait_columns
  FROM mnestic.job_wait
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND job_id = %(job_id)s
   AND (opened_at, wait_id) > (CAST(%(after)s AS timestamptz), %(after_id)s) -- if after
 ORDER BY opened_at, wait_id
 LIMIT %(limit)s

-- name: list_latest
-- Reads the latest waits of a job, newest first.
SELECT -- include wait_columns
  FROM mnestic.job_wait
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND job_id = %(job_id)s
 ORDER BY opened_at DESC, wait_id DESC
 LIMIT %(limit)s

-- name: find_event
-- Reads the event that a wait has got.
SELECT e.number, e.id, e.channel, e.agent_id, e.payload, e.at
  FROM mnestic.job_wait AS w
  JOIN mnestic.channel_event AS e ON e.tenant_id = w.tenant_id AND e.number = w.event_number
 WHERE w.tenant_id = %(tenant_id)s AND w.agent_id = %(agent_id)s AND w.wait_id = %(wait_id)s

-- name: claim_met
-- Takes waits of a namespace of Temporal whose condition is met, unless that was sent to their job lately.
UPDATE mnestic.job_wait AS w
   SET sent_at = clock_timestamp(), sent = w.sent + 1
 WHERE w.tenant_id = %(tenant_id)s AND w.agent_id = %(agent_id)s AND w.state = 'waiting'
   AND (w.event_channel IS NOT NULL OR w.fact IS NOT NULL) AND mnestic.is_wait_met(w)
   AND COALESCE(w.temporal_namespace, %(temporal_namespace)s) = %(temporal_namespace)s
RETURNING w.job_id, w.wait_id, CASE WHEN w.fact IS NULL THEN 'event' ELSE 'fact' END AS outcome
